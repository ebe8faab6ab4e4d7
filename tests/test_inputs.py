"""What people handed in, made again in small: each is read right, or refused by name.

Each test stands for a complaint in a public tracker, and for its kind.
"""

import base64
import csv
import json
import unicodedata
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from PIL import Image

from cuescope_core.runs import load_report
from cuescope_sdk import BadDataError, Context, UserError

CONTEXT = Context()
YES_NO = ("yes", "no")


def data_of(spec: str, **options: Any) -> Any:
    return CONTEXT.build("dataset", spec, options)


def log_of(path: Path, **options: Any) -> tuple[Any, Any]:
    """The data and the model of a log."""
    data = data_of(f"log:{path}", **options)
    model = CONTEXT.for_dataset(data).build("model", f"log:{path}", options)
    return data, model


def accuracy(model: Any) -> str:
    return str(model.facts["accuracy"])


def write_table(
    path: Path, rows: Sequence[dict[str, Any]], delimiter: str = ","
) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def photo(path: Path, seed: int = 0, size: tuple[int, int] = (48, 32)) -> Path:
    """A picture of noise, another one for each seed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def turned_photo(path: Path) -> Path:
    """96 x 64 as stored, its first rows red; EXIF 6 turns it to 64 x 96, red at the right."""
    pixels = np.full((64, 96, 3), 200, np.uint8)
    pixels[:16] = (220, 0, 0)
    exif = Image.Exif()
    exif[0x0112] = 6
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, exif=exif, quality=95)
    return path


# ---------------------------------------------------------------------- what a log calls correct


@pytest.mark.parametrize("blank", ["", "None", "nan"])
def test_options_after_a_blank_one_keep_their_letters(
    tmp_path: Path, blank: str
) -> None:
    """VLMEvalKit #1559: the option "None" became an empty cell."""
    rows = []
    for number in range(40):
        options = dict(zip("ABCD", ("One", "Two", blank, "Three"), strict=True))
        answer = "ABCD"[number % 4]
        said = answer if number % 4 != 1 else "A"
        row = {"index": number, "question": f"How many cups {number}?", **options}
        rows.append({**row, "answer": answer, "prediction": said})
    data, model = log_of(write_table(tmp_path / "m_CountBench.tsv", rows, "\t"))
    assert accuracy(model) == "75.00% of 40 answers"
    assert data[3].label == "Three"
    assert ("(such as 2, 6, 10, ...)" in data.facts.get("faults", "")) == (not blank)


@pytest.mark.parametrize("stated", [True, False])
def test_a_figure_that_is_better_when_lower(tmp_path: Path, stated: bool) -> None:
    """lmms-eval has 46 such; where no file states it, the words of the answers show it."""
    lines = []
    for number in range(60):
        target = YES_NO[number % 2]
        wrong = number % 6 == 0
        said = YES_NO[(number + wrong) % 2]
        line = {"doc_id": number, "target": target, "input": f"Is sign {number} lit?"}
        lines.append({**line, "filtered_resps": [said], "error_rate": float(wrong)})
    log = write_lines(tmp_path / "2026_samples_signs.jsonl", lines)
    if stated:
        results = {"results": {"signs": {"error_rate,none": 1 / 6}}}
        results["higher_is_better"] = {"signs": {"error_rate": False}}
        (tmp_path / "2026_results.json").write_text(json.dumps(results))
    data, model = log_of(log)
    assert accuracy(model) == "83.33% of 60 answers"
    assert "lower is better" in data.facts["judged by"]
    assert ("harness states" in data.facts["judged by"]) == stated


def test_figures_that_contradict_each_other_are_not_guessed(tmp_path: Path) -> None:
    lines = []
    for number in range(60):
        line = {"doc_id": number, "target": "", "input": f"Say something of {number}."}
        rates = {"attack_rate": number % 3 == 0, "refusal_rate": number % 3 != 0}
        lines.append({**line, "filtered_resps": [f"words {number}"], **rates})
    log = write_lines(tmp_path / "2026_samples_safety.jsonl", lines)
    with pytest.raises(
        UserError, match=r"'attack_rate' and 'refusal_rate' say the opposite"
    ):
        data_of(f"log:{log}")
    assert (
        data_of(f"log:{log}", metric="refusal_rate")
        .facts["judged by"]
        .startswith("the figure 'refusal_rate'")
    )


def test_a_table_that_excel_saved(tmp_path: Path) -> None:
    rows = ["id;question;options;answer;prediction;right"]
    options = '"[""left, far"", ""right""]"'
    for number in range(40):
        right = number % 4 != 0
        said = "left, far" if right else "right"
        rows.append(
            f"{number};Which, {number}?;{options};left, far;{said};{int(right)},0"
        )
    path = tmp_path / "answers.csv"
    path.write_bytes(("\ufeff" + "\r\n".join(rows)).encode())
    _, model = log_of(path)
    assert accuracy(model) == "75.00% of 40 answers"


@pytest.mark.parametrize(
    ("correct", "wrong"),
    [
        ("1.0", "0.0"),
        ("yes", "no"),
        ("correct", "incorrect"),
        ("PASS", "fail"),
        ("100%", "0%"),
    ],
)
def test_a_judges_verdict_in_any_spelling(
    tmp_path: Path, correct: str, wrong: str
) -> None:
    """pandas writes a column with gaps as 1.0 and 0.0."""
    rows = []
    for number in range(60):
        is_right = number % 5 != 0
        row = {"id": f"q{number}", "question": f"What is she doing in {number}?"}
        said = f"she is riding number {number}"
        row |= {
            "prediction": said,
            "answer": "cycling",
            "right": correct if is_right else wrong,
        }
        rows.append(row)
    path = write_table(tmp_path / "judged.csv", rows)
    assert accuracy(log_of(path)[1]) == "80.00% of 60 answers"
    rows[0]["right"] = rows[7]["right"] = "perhaps"
    with pytest.raises(
        UserError, match=r"'right' has values .* got 'perhaps' \(2\) of 60"
    ):
        data_of(f"log:{write_table(path, rows)}")
    # somebody may want the words compared all the same
    assert accuracy(log_of(path, metric="words")[1]) == "0.00% of 60 answers"


def test_several_right_options_are_judged_by_the_harness(tmp_path: Path) -> None:
    """inspect_ai #4835: multiple_choice(multiple_correct=True)."""
    samples = []
    for number in range(80):
        is_right = number % 5 != 0
        said = {
            "choices": [{"message": {"role": "assistant", "content": "ANSWER: A, C"}}]
        }
        about = {"id": number, "epoch": 1, "input": f"Which are in photo {number}?"}
        about |= {
            "choices": ["dog", "cat", "ball"],
            "target": ["A", "C"],
            "output": said,
        }
        score = {"value": "C" if is_right else "I", "answer": "A, C"}
        samples.append({**about, "messages": [], "scores": {"choice": score}})
    path = tmp_path / "2026-09-01_selectall_abc.json"
    path.write_text(
        json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples})
    )
    data, model = log_of(path)
    assert accuracy(model) == "80.00% of 80 answers"
    assert data[0].label == "dog + ball"
    assert "80 questions" in data.facts["several right options"]


def test_yes_is_yes_in_any_capitals(tmp_path: Path) -> None:
    """POPE #19: truths yes, Yes and YES, answers yes, Yes and "Yes."."""
    truths, said = [], []
    for number in range(60):
        photo(tmp_path / f"{number:02}.png", number, (16, 16))
        truth = YES_NO[number % 2]
        answer = YES_NO[(number + (number % 5 == 0)) % 2]
        spelled = (truth, truth.title(), truth.upper())[number % 3]
        truths.append(
            {
                "path": f"{number:02}.png",
                "question": f"A cup in {number}?",
                "answer": spelled,
            }
        )
        answer = (answer, answer.title(), f"{answer.title()}.")[number % 3]
        said.append({"path": f"{number:02}.png", "prediction": answer})
    write_table(tmp_path / "manifest.csv", truths)
    log = write_table(tmp_path / "said.csv", said)
    data = data_of(f"folder:{tmp_path}")
    assert data.labels == ("no", "yes")
    model = CONTEXT.for_dataset(data).build("model", f"log:{log}", {})
    assert accuracy(model) == "80.00% of 60 answers"


def test_words_are_compared_up_to_case_article_and_digit_words(tmp_path: Path) -> None:
    truths = ["two", "a dog", "green", "St. John", "1.5"]
    answers = ["2", "Dog.", "the Green", "st. john", "15"]
    rows = [
        {"id": n, "question": f"What {n}?", "answer": truth, "prediction": said}
        for n, (truth, said) in enumerate(zip(truths, answers, strict=True))
    ]
    assert (
        accuracy(log_of(write_table(tmp_path / "free.csv", rows))[1])
        == "80.00% of 5 answers"
    )


def test_candidates_in_a_list_as_python_writes_it(tmp_path: Path) -> None:
    """VLMEvalKit's Video-MME: options in `candidates`, three questions a video."""
    rows = []
    for number in range(90):
        candidates = str([f"{letter}. thing {number} {letter}" for letter in "ABCD"])
        row = {"index": number, "video": f"v{number // 3}", "candidates": candidates}
        answer = "ABCD"[number % 4]
        said = answer if number % 5 else "C"
        rows.append(
            {**row, "question": f"What {number}?", "answer": answer, "prediction": said}
        )
    data, model = log_of(write_table(tmp_path / "m_Video-MME.tsv", rows, "\t"))
    assert data[0].choices == tuple(f"thing 0 {letter}" for letter in "ABCD")
    assert [data[n].group for n in (0, 2, 3)] == ["v0", "v0", "v1"]
    right = sum("ABCD"[n % 4] == ("ABCD"[n % 4] if n % 5 else "C") for n in range(90))
    assert accuracy(model) == f"{right / 90:.2%} of 90 answers"


def test_evalscopes_reviews(tmp_path: Path) -> None:
    lines = []
    for number in range(60):
        right = "ABC"[number % 3]
        parsed = right if number % 4 else "ABC"[(number + 1) % 3]
        asked = f"Which way does sign {number} point?\nA. left\nB. right\nC. up"
        score = {"value": {"acc": float(parsed == right)}, "main_score_name": "acc"}
        score |= {
            "extracted_prediction": parsed,
            "prediction": f"The answer is {parsed}.",
        }
        messages = [{"role": "user", "content": asked}]
        messages += [{"role": "assistant", "content": f"The answer is {parsed}."}]
        line = {"index": number, "target": [right], "messages": messages}
        lines.append({**line, "sample_score": {"score": score, "sample_id": number}})
    log = write_lines(tmp_path / "reviews" / "m" / "signs_default.jsonl", lines)
    data, model = log_of(log)
    assert accuracy(model) == "75.00% of 60 answers"
    assert data[0].choices == ("left", "right", "up")
    # any harness without a reader: fields of fields, and the last message
    names = {"prediction": "messages.-1.content", "answer": "target.0"}
    names |= {"right": "sample_score.score.value.acc", "key": "index"}
    again = log_of(log, format="table", reader=names)[1]
    assert accuracy(again) == "75.00% of 60 answers"


# -------------------------------------------------------------------------- what belongs together


def rows_of_videos(videos: int, each: int) -> list[dict[str, Any]]:
    rows = []
    for number in range(videos * each):
        row = {
            "index": number,
            "video": f"vid{number // each}",
            "question": f"Step {number}?",
        }
        row |= {
            "A": "yes",
            "B": "no",
            "answer": "A",
            "prediction": "AB"[number // each % 2],
        }
        rows.append(row)
    return rows


def test_questions_of_one_video_are_one_group(tmp_path: Path) -> None:
    """lmms-eval #989, inspect_ai #1251: whole videos fail together."""
    rows = rows_of_videos(20, 6)
    data, _ = log_of(write_table(tmp_path / "m_Video.tsv", rows, "\t"))
    assert len({data[n].group for n in range(120)}) == 20
    lines = [
        {"doc_id": n, "target": "A", "input": row["question"], "filtered_resps": ["A"]}
        | {"score": {"score": 1.0, "videoID": row["video"]}}
        for n, row in enumerate(rows)
    ]
    data, _ = log_of(write_lines(tmp_path / "2026_samples_video.jsonl", lines))
    assert data[5].group == data[0].group != data[6].group
    # a reader that is told nothing invents nothing
    for row in rows:
        del row["video"]
    path = write_table(tmp_path / "m_Video.tsv", rows, "\t")
    assert {log_of(path)[0][n].group for n in range(120)} == {None}
    assert data_of(f"log:{path}", group="none")[7].group == "7"


@pytest.mark.parametrize("reader", ["log", "questions", "folder"])
def test_no_reader_certifies_what_nobody_declared(reader: str, tmp_path: Path) -> None:
    rows = []
    for number in range(30):
        photo(tmp_path / f"{number}.png", number)
        row = {
            "id": f"k{number}",
            "path": f"{number}.png",
            "question": f"Is it {number}?",
        }
        rows.append({**row, "A": "x", "B": "y", "answer": "x", "prediction": "x"})
    path = write_table(tmp_path / "table.csv", rows)
    options = {"options": "A,B"} if reader == "questions" else {}
    data = data_of(f"{reader}:{path}", **options)
    assert {data[n].group for n in range(len(data))} == {None}


# --------------------------------------------------------------------------------------- pictures


def test_a_picture_is_the_same_by_whatever_door(tmp_path: Path) -> None:
    """sglang #33464, ollama #18418: EXIF was ignored, and white became black."""
    turned = turned_photo(tmp_path / "phone.jpg")
    logo = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    logo.paste((0, 0, 0, 255), (24, 24, 40, 40))
    logo.save(tmp_path / "logo.png")
    uris = []
    for path, kind in ((turned, "jpeg"), (tmp_path / "logo.png", "png")):
        text = base64.b64encode(path.read_bytes()).decode()
        uris.append(f"data:image/{kind};base64,{text}")
    samples = []
    for number in range(40):
        parts = [{"type": "text", "text": f"A red bar ({number})?"}]
        parts += [{"type": "image", "image": uris[number % 2]}]
        output = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}
        asked = {
            "input": [{"role": "user", "content": parts}],
            "target": YES_NO[number % 2],
        }
        samples.append(
            {"id": number, "epoch": 1, **asked, "output": output, "scores": {}}
        )
    log = tmp_path / "log" / "2026_pics_abc.json"
    log.parent.mkdir()
    log.write_text(
        json.dumps({"version": 2, "eval": {"task": "t"}, "samples": samples})
    )
    of_log = log_of(log)[0]
    of_folder = data_of(f"folder:{tmp_path}")
    by_name = {
        of_folder[n].key: of_folder[n].frames[0].load() for n in range(len(of_folder))
    }
    for number, name in enumerate(("phone.jpg", "logo.png")):
        shown = of_log[number].frames[0].load()
        assert shown.size == by_name[name].size
        assert np.array_equal(np.asarray(shown), np.asarray(by_name[name]))
    assert by_name["phone.jpg"].size == (64, 96)
    assert of_log.facts["turned pictures"].startswith("1 picture shown upright")
    assert np.asarray(by_name["logo.png"])[0, 0].tolist() == [255, 255, 255]
    # as many rows as show one picture are one draw
    assert of_log[0].group == of_log[2].group != of_log[1].group


def test_numbers_that_no_screen_shows_are_refused_and_few_bits_are_told(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    for name, pixels in (
        ("share", np.linspace(0, 1, 256, dtype=np.float32).reshape(16, 16)),
        ("height", np.linspace(-8000, 90_000, 256, dtype=np.float32).reshape(16, 16)),
        ("camera", np.full((16, 16), 4000, np.uint16)),
    ):
        Image.fromarray(pixels).save(folder / f"{name}.tif")
    data = data_of(f"folder:{tmp_path}", max_bad=0.5)
    assert "height.tif (pixels from -8000 to 9e+04" in data.facts["skipped"]
    assert "camera.tif (12 bits in 16" in data.facts["not whole"]
    shown = {data[n].key: np.asarray(data[n].frames[0].load()) for n in range(2)}
    assert shown["a/share.tif"].max() == 255


def test_odd_pictures_are_seen_and_bad_ones_named(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    Image.new("CMYK", (40, 40), (0, 255, 255, 0)).save(folder / "cmyk.jpg")
    Image.new("RGB", (40, 40), "red").save(folder / "really_webp.jpg", "WEBP")
    Image.new("1", (40, 40), 1).save(folder / "bit.png")
    (folder / "empty.png").touch()
    (folder / "._bit.png").write_bytes(b"shadow")
    (folder / "pointer.png").write_text("version https://git-lfs.github.com/spec/v1\n")
    data = data_of(f"folder:{tmp_path}", max_bad=0.5)
    assert len(data) == 3
    assert "pointer.png (a pointer of Git LFS" in data.facts["skipped"]
    with pytest.raises(BadDataError, match=r"empty\.png"):
        data_of(f"folder:{tmp_path}")


@pytest.mark.parametrize("with_mask", [True, False])
def test_boxes_and_masks_of_turned_photos(tmp_path: Path, with_mask: bool) -> None:
    """fiftyone #3778: drawn on the stored pixels of phone photos."""
    rows = []
    for number in range(4):
        turned_photo(tmp_path / f"{number}.jpg")
        row = {"path": f"{number}.jpg", "label": "ab"[number % 2]}
        row["boxes"] = json.dumps([["sign", 64, 0, 96, 16]])
        if with_mask:
            mask = np.zeros((64, 96), np.uint8)
            mask[:16, 64:] = 255
            Image.fromarray(mask).save(tmp_path / f"{number}_mask.png")
            row["mask"] = f"{number}_mask.png"
        rows.append(row)
    write_table(tmp_path / "manifest.csv", rows)
    given: dict[str, str] = {}
    if not with_mask:
        with pytest.raises(
            UserError, match=r"EXIF \(orientation 6\).*-O data.boxes_in=stored"
        ):
            data_of(f"folder:{tmp_path}")
        given = {"boxes_in": "stored"}
    data = data_of(f"folder:{tmp_path}", **given)
    (box,) = data[0].annotations["boxes"]
    assert box.box == (48, 64, 64, 96)
    assert "4 pictures count stored pixels" in data.facts["turned"]
    if with_mask:
        shown = np.asarray(data[0].annotations["foreground"].load()).any(axis=2)
        assert np.argwhere(shown).min(axis=0).tolist() == [64, 48]
        assert shown.shape == (96, 64)


# ---------------------------------------------------------------------------------------- folders


def test_names_that_are_the_same_to_the_eye(tmp_path: Path) -> None:
    """macOS decomposes names; a table from Windows has backslashes and other capitals."""
    photo(tmp_path / "img" / unicodedata.normalize("NFD", "café.png"))
    photo(tmp_path / "img" / "Dog.PNG", 1)
    rows = [
        {"path": "img/café.png", "label": "food"},
        {"path": "img\\dog.png", "label": "pet"},
    ]
    write_table(tmp_path / "manifest.csv", rows)
    data = data_of(f"folder:{tmp_path}")
    assert [data[n].label for n in range(2)] == ["food", "pet"]


def test_links_of_the_hubs_cache_lead_into_its_store(tmp_path: Path) -> None:
    for number in range(8):
        blob = photo(tmp_path / "blobs" / f"{number:040}.png", number)
        blob = blob.rename(blob.with_suffix(""))
        link = (
            tmp_path
            / "snapshots"
            / "abc"
            / ("cat", "dog")[number % 2]
            / f"{number}.png"
        )
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(Path("../../../blobs") / blob.name)
    for path in (tmp_path, tmp_path / "snapshots" / "abc"):
        data = data_of(f"folder:{path}")
        assert data.labels == ("cat", "dog")
        assert len(data) == 8
    # another store is named by whoever types
    farm = tmp_path / "farm" / "cat"
    farm.mkdir(parents=True)
    (farm / "1.png").symlink_to(photo(tmp_path / "annex" / "x.png"))
    with pytest.raises(UserError, match=r"-O data\.links=FOLDER"):
        data_of(f"folder:{farm.parent}")
    assert len(data_of(f"folder:{farm.parent}", links=str(tmp_path / "annex"))) == 1


def test_splits_without_classes_have_no_labels(tmp_path: Path) -> None:
    """datasets #7880: train/*.png and test/*.png."""
    for split in ("train", "test"):
        for number in range(5):
            photo(tmp_path / split / f"{number}.png", number)
    data = data_of(f"folder:{tmp_path}")
    assert {data[n].label for n in range(len(data))} == {None}
    assert len(data_of(f"folder:{tmp_path}", split="test")) == 5


def test_photos_in_folders_of_a_class_are_photos(tmp_path: Path) -> None:
    """ultralytics #20440: sorted by camera inside the class folders."""
    for folder in range(6):
        place = tmp_path / ("dogs", "not_dogs")[folder // 3] / f"camera{folder % 3}"
        for number in range(12):
            photo(place / f"IMG_{number}.png", 100 * folder + number, (24, 24))
    data = data_of(f"folder:{tmp_path}")
    assert len(data) == 72
    assert data[0].group == "dogs/camera0"
    assert "-O data.nested=clips" in data.facts["folders in class folders"]
    assert len(data_of(f"folder:{tmp_path}", nested="clips")) == 6


def test_frames_in_folders_of_a_class_are_clips(tmp_path: Path) -> None:
    for folder in range(6):
        wall = np.random.default_rng(folder).integers(
            0, 255, (8, 12, 3), dtype=np.uint8
        )
        wide = Image.fromarray(wall).resize((96, 64), Image.Resampling.BICUBIC)
        place = tmp_path / "ab"[folder % 2] / f"clip{folder}"
        place.mkdir(parents=True)
        for number in range(12):
            wide.crop((number, 0, number + 60, 60)).save(place / f"{number:03}.png")
    data = data_of(f"folder:{tmp_path}")
    assert len(data) == 6
    assert "-O data.nested=photos" in data.facts["folders in class folders"]


def test_labels_that_differ_in_capitals_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {
            "path": photo(tmp_path / f"{n}.png", n).name,
            "label": ("cat", "Cat", "dog")[n % 3],
        }
        for n in range(9)
    ]
    write_table(tmp_path / "manifest.csv", rows)
    run("check", str(tmp_path), code=1)
    assert "'cat' and 'Cat'" in capsys.readouterr().out


def test_a_class_folder_without_pictures_is_told(tmp_path: Path) -> None:
    photo(tmp_path / "cat" / "1.png")
    photo(tmp_path / "dog" / "1.png", 1)
    (tmp_path / "unused").mkdir()
    data = data_of(f"folder:{tmp_path}")
    assert data.facts["empty classes"] == "unused"
    # a model is offered what is shown alone
    assert data[0].choices == ("cat", "dog")


# ---------------------------------------------------------------------------------------- command


def test_check_says_what_is_wrong_and_exits_by_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": n, "question": f"What {n}?", "A": "x", "B": "y", "answer": "AB"[n % 2]}
        | {"prediction": "AB"[n % 2], "right": 1}
        for n in range(40)
    ]
    path = write_table(tmp_path / "mine.csv", rows)
    run("check", str(path))
    assert capsys.readouterr().out.rstrip().endswith("No fault found.")
    for row in rows[:8]:
        row["right"] = 0
    run("check", str(write_table(path, rows)), "--json", code=1)
    told = json.loads(capsys.readouterr().out)
    (fault,) = [check for check in told["checks"] if check["status"] == "fault"]
    assert fault["check"] == "extraction"
    assert "of 8 the right answer counts as incorrect" in fault["detail"]
    assert told["spec"] == f"log:{path}"
    # an audit of such a log begins with it, and its report has it
    other = write_table(tmp_path / "other.csv", rows)
    words = ("--model", f"log:{other}", "--data", f"log:{other}")
    run("audit", "answers", *words, "--out", str(tmp_path / "run"))
    assert "extraction: of 8 the right answer" in capsys.readouterr().err
    facts = load_report(tmp_path / "run").provenance.data.facts
    assert "of 8 the right answer" in facts["faults"]
    run("check", str(tmp_path / "mine.cvs"), code=2)
    assert "Did you mean 'mine.csv'?" in capsys.readouterr().err


def test_check_writes_pictures_as_a_model_sees_them(tmp_path: Path) -> None:
    for number in range(3):
        turned_photo(tmp_path / "data" / "ab"[number % 2] / f"{number}.jpg")
    sheet = tmp_path / "sheet.png"
    run("check", str(tmp_path / "data"), "--pictures", str(sheet))
    with Image.open(BytesIO(sheet.read_bytes())) as image:
        corner = np.asarray(image.convert("RGB"))[:160, :160]
    # upright: taller than wide, red at the right
    shown = np.argwhere((corner < 240).any(axis=2))
    height, width = shown.max(axis=0) - shown.min(axis=0)
    assert height > width
