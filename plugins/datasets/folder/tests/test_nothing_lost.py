"""Every file and row is shown, or its loss is said."""

import random

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import UserError
from cuescope_sdk.logs import Manifest

HEADER = "path,label"


@pytest.fixture
def table(data, image):
    """Writes 200 images and their manifest, with some lines replaced by others."""

    def table(changes, name="manifest.csv", header=HEADER):
        for number in range(2, 202):
            image(data / f"{number}.png", number)
        mark = "\t" if name.endswith("tsv") else ","
        lines = {1: header.replace(",", mark)}
        lines |= {n: f"{n}.png{mark}{'cat' if n % 2 else 'dog'}" for n in range(2, 202)}
        text = "\n".join({**lines, **changes}.values()) + "\n"
        (data / name).write_text(text)

    return table


@pytest.mark.parametrize(
    "changes",
    [
        {22: '22.png,"cat'},
        {22: '22.png,cat"'},
        {22: '"22.png,cat'},
        {22: '22.png",cat'},
        {22: '22.png,"ca"t'},
        {22: '22.png,"cat', 40: '40.png,dog"'},  # together they are one long cell
        {22: '"22.png,cat', 40: '40.png",dog'},
        {22: '22.png,"cat', 23: '23.png,dog"'},
    ],
)
@pytest.mark.parametrize("name", ["manifest.csv", "manifest.tsv"])
def test_a_stray_quote_is_refused_with_its_line(table, opened, changes, name):
    mark = "\t" if name.endswith("tsv") else ","
    table({n: line.replace(",", mark) for n, line in changes.items()}, name)
    with pytest.raises(
        UserError, match=r"manifest\.\wsv line 22: expected .*, got .* in '"
    ) as caught:
        opened()
    assert "\n" not in str(caught.value)


def test_quotes_that_are_right_are_read(table, opened):
    table({22: '"22.png","a 5"" nail"', 23: '23.png,"cat, or dog"'})
    assert len(opened()) == 200
    assert {'a 5" nail', "cat, or dog"} < set(opened().labels)


def test_questions_may_have_several_lines(data, image, opened):
    image(data / "1.png")
    (data / "manifest.csv").write_text(
        'path,question,answer\n1.png,"What is this?\nOne word, please.",cat\n'
    )
    assert opened()[0].question == "What is this?\nOne word, please."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"path,label,split\n1.png,a\n", "line 2: expected 3 cells, got fewer"),
        (b"path,label\n1.png,a\n1.png,a,b\n", "line 3: expected 2 cells, got more"),
        (b"path,label,label\n1.png,a,b\n", "two columns 'label'"),
        (
            b"path,label\n1.png,a\x00b\n",
            "line 2: expected UTF-8 text, got a NUL character",
        ),
        (
            "path,label\n1.png,a\n1.png,Stra\xdfe\n".encode("latin-1"),
            "invalid .* in line 3",
        ),
        ("path,label\n1.png,a\n".encode("utf-16-le"), "NUL character"),
    ],
)
def test_rows_that_are_none(data, image, opened, content, message):
    image(data / "1.png")
    (data / "manifest.csv").write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_tables_of_spreadsheets_are_read(data, image, opened, encoding, newline):
    image(data / "1.png")
    text = newline.join(["path,label", "1.png,Straße", ""])
    (data / "manifest.csv").write_bytes(text.encode(encoding))
    assert opened()[0].label == "Straße"


def test_contradicting_rows_are_named(data, image, opened):
    for number in (1, 2):
        image(data / f"{number}.png", number)
    (data / "manifest.csv").write_text(
        "path,label\n1.png,cat\n2.png,cat\n1.png,dog\n2.png,cat\n"
    )
    assert opened().facts["contradictions"] == "1.png: cat, 1.png#2: dog"


def test_a_picture_in_two_classes_is_named(data, image, opened):
    image(data / "a" / "1.png", 7)
    image(data / "b" / "copy.png", 7)
    image(data / "b" / "2.png", 8)
    assert opened().facts["contradictions"] == "a/1.png: a, b/copy.png: b"


def test_rows_that_ask_other_things_do_not_contradict(data, image, opened):
    image(data / "1.png")
    (data / "manifest.csv").write_text(
        "path,question,answer\n1.png,A?,yes\n1.png,B?,no\n"
    )
    assert "contradictions" not in opened().facts


@pytest.fixture
def without_heif(monkeypatch):
    """As if pillow-heif were not installed."""
    monkeypatch.setattr("cuescope_sdk.data._media.files.reads_heif", lambda: False)


@pytest.mark.usefixtures("without_heif")
def test_what_is_not_read_is_counted(data, image, opened):
    for number in range(3):
        image(data / "a" / f"{number}.png", number)
        (data / "a" / f"{number}.heic").write_bytes(b"x")
    for name in ("README", "notes.txt", ".hidden.png", "b.xyz", "c.xyz"):
        (data / "a" / name).write_bytes(b"x")
    (data / "a" / "bad.png").write_bytes(b"x")
    assert opened(max_bad=0.5).facts["left out"] == (
        "3 .heic (pip install pillow-heif), 2 .xyz (no image or video), "
        "1 .txt (no image or video), 1 damaged, 1 hidden, 1 without suffix (no image by their "
        "content)"
    )


def test_a_whole_folder_has_nothing_left_out(data, image, opened):
    image(data / "a" / "1.png")
    assert {"left out", "not whole", "contradictions"}.isdisjoint(opened().facts)


@pytest.mark.usefixtures("without_heif")
def test_frames_that_are_not_read_are_counted(data, image, opened):
    for number in range(3):
        image(data / "c" / f"{number}.png", number)
    (data / "c" / "3.heic").write_bytes(b"x")
    (data / "c" / "sound.mp4").write_bytes(b"x")
    (data / "manifest.csv").write_text("path,label\nc,a\n")
    assert opened(frames=3).facts["left out"] == (
        "1 .heic (pip install pillow-heif), 1 .mp4 (among frames)"
    )


def test_suffixes_of_jpeg_and_none_are_read(data, opened):
    (data / "a").mkdir()
    for level, name in enumerate(("1.jfif", "2.jpe", "3.JFIF", "IMG_4", "5")):
        Image.new("RGB", (8, 8), (level * 9,) * 3).save(data / "a" / name, "JPEG")
    folder = opened()
    assert [sample.key for sample in folder] == [
        "a/1.jfif",
        "a/2.jpe",
        "a/3.JFIF",
        "a/5",
        "a/IMG_4",
    ]
    assert all(sample.frames[0].load().size == (8, 8) for sample in folder)
    assert "left out" not in folder.facts


def test_a_cut_video_is_named(data, video, opened):
    path = video(data / "a" / "1.avi", 60)
    video(data / "a" / "2.avi", 30)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    not_whole = opened(max_bad=1).facts["not whole"]
    assert not_whole.startswith("a/1.avi (cut off: ")
    assert "2.avi" not in not_whole


def test_a_small_table_of_endless_rows_is_refused(data, image, opened):
    import pyarrow as pa
    from pyarrow import parquet

    image(data / "1.png")
    column = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(6_000_000, np.int8)), pa.array(["x"])
    )
    file = data / "manifest.parquet"
    parquet.write_table(
        pa.table({"path": column, "label": column}), file, store_schema=False
    )
    assert file.stat().st_size < 2**22
    with pytest.raises(UserError, match=r"manifest\.parquet: expected at most"):
        opened()


def test_random_quotes_never_lose_a_row(tmp_path):
    rng, refused = random.Random(0), 0
    file = tmp_path / "manifest.csv"
    for _ in range(100):
        lines = ["path,question,answer"]
        lines += [
            f"{n}.mp4,What is it?,{'cat' if n % 2 else 'dog'}" for n in range(200)
        ]
        for _ in range(rng.randint(1, 3)):
            row = rng.randrange(1, 201)
            place = rng.choice(
                [0, len(lines[row]), *(i + 1 for i in range(len(lines[row])))]
            )
            lines[row] = f'{lines[row][:place]}"{lines[row][place:]}'
        file.write_text("\n".join(lines))
        try:
            assert len(list(Manifest.of_file(file, "folder"))) == 200
        except UserError:
            refused += 1
    assert refused > 90
