"""`cuescope.audit` from Python: the same report as the command line's, and objects for SPECs."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cuescope
from cuescope import UserError
from cuescope_core.types import Frame, HideTokens, Sample, Trial

from ...conftest import Line
from ...engine.tests.stubs import environment

LABELS = ("left", "right")
Predict = Callable[[Sequence[Image.Image]], np.ndarray]


@pytest.fixture(autouse=True)
def here(stubs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fakes, with a cache and working folder of their own."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def pictures(count: int = 20) -> tuple[list[Image.Image], list[str]]:
    """The clips of the fakes as still images: red follows "right" in four of five."""
    images, labels = [], []
    for index in range(count):
        red = (index % 2 == 1) != (index % 5 == 0)
        pixels = np.full((4, 4, 3), (200 if red else 50, 0, 0), np.uint8)
        pixels[0, 0, 2] = index
        images.append(Image.fromarray(pixels))
        labels.append(LABELS[index % 2])
    return images, labels


def red_is_right(images: Sequence[Image.Image]) -> np.ndarray:
    red = np.array([np.asarray(image)[..., 0].mean() / 255 for image in images])
    return np.stack([1 - red, red], axis=1)


class Counting:
    """A function that counts the images that it was shown."""

    def __init__(self, predict: Predict = red_is_right) -> None:
        self.shown, self.predict = 0, predict

    def __call__(self, images: Sequence[Image.Image]) -> np.ndarray:
        self.shown += len(images)
        return self.predict(images)


def audit(predict: Any = red_is_right, **changes: Any) -> cuescope.StoredReport:
    given = {"model": predict, "data": pictures(), "progress": False} | changes
    return cuescope.audit("red", **given)


# --------------------------------------------------------------------------- the command line


def test_the_same_specs_and_seed_give_the_command_lines_report(line: Line) -> None:
    words = ("audit", "red", "--model", "colour", "--data", "clips:40", "--seed", "3")
    of_line = json.loads(line(*words, "-O", "threshold=0.4", "--limit", "30", "--json"))
    (folder,) = Path("runs").iterdir()
    report = cuescope.audit(
        "red",
        model="colour",
        data="clips:40",
        seed=3,
        limit=30,
        options={"threshold": 0.4},
        progress=False,
    )
    assert report.cost.cache_hits == report.cost.trials
    stored = cuescope.load(folder)
    assert report.hash == stored.hash
    assert report.provenance.command == of_line["provenance"]["command"]


def test_the_import_is_light(stubs: Path) -> None:
    program = "import sys, cuescope; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment(stubs),
    )
    loaded = set(done.stdout.split())
    assert "cuescope" in loaded
    assert not loaded & {
        "pydantic",
        "numpy",
        "torch",
        "pandas",
        "yaml",
        "importlib.metadata",
    }


def test_the_door_names_what_it_has() -> None:
    for name in dir(cuescope):
        assert getattr(cuescope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'audti'"):
        cuescope.audti  # noqa: B018


# --------------------------------------------------------------------------------- functions


def test_a_function_is_audited(capsys: pytest.CaptureFixture[str]) -> None:
    report = audit()
    # what the fake model, which is the same function, gives on the same pictures
    assert [score.value for score in report.scores] == [1.0, -1.0]
    assert [score.label for score in report.findings] == ["left"]
    assert report.provenance.command == (
        "cuescope.audit('red', model=<red_is_right>, data=<images>)"
        "  # Python, <...>: objects of the caller"
    )
    # no bars, and what has to be known
    assert capsys.readouterr().err == (
        "cuescope: answers of 'red_is_right' are not kept: "
        "model_name=... names it for the cache\n"
    )
    report = audit(
        data="clips",
        data_options={"size": 30},
        options={"sizes": (2, 3)},
        seed=4,
        limit=20,
    )
    assert report.provenance.command == (
        "cuescope.audit('red', model=<red_is_right>, data='clips', options={'sizes': (2, 3)}, "
        "data_options={'size': 30}, seed=4, limit=20)  # Python, <...>: objects of the caller"
    )


def test_answers_are_kept_under_a_name_only(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = Counting(), Counting(lambda images: 1 - red_is_right(images))
    audit(first, progress=True)
    assert "not kept: model_name=... names it" in capsys.readouterr().err
    # another function without a name, and the same type: it is asked itself
    wrong = audit(second)
    assert (first.shown, second.shown) == (20, 20)
    assert [score.value for score in wrong.scores] == [-1.0, 1.0]
    for _ in range(2):
        audit(first, model_name="v1")
    assert first.shown == 40
    audit(second, model_name="v2")
    assert second.shown == 40


def test_answers_that_another_function_gave_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A function that was trained on under the same name would get the old answers in silence."""
    old, new = Counting(), Counting(lambda images: 1 - red_is_right(images))
    said = "answers that 'v1' gave in an earlier call are used again"
    audit(old, model_name="v1", progress=True)
    assert said not in capsys.readouterr().err
    # its own answers are nothing to tell
    audit(old, model_name="v1", progress=True, seed=1)
    assert said not in capsys.readouterr().err
    for times in (1, 0):
        audit(new, model_name="v1", progress=True, seed=2)
        assert capsys.readouterr().err.count(said) == times
    assert new.shown == 0


def test_columns_are_taken_by_name() -> None:
    turned = cuescope.Classifier(
        lambda images: red_is_right(images)[:, ::-1],
        labels=("right", "left"),
        name="turned",
    )
    assert [s.value for s in audit(turned).scores] == [s.value for s in audit().scores]


def test_logits_are_taken_where_they_are_announced() -> None:
    predict = cuescope.Classifier(
        lambda images: 7 * red_is_right(images), outputs="logits"
    )
    assert [score.value for score in audit(predict).scores] == [1.0, -1.0]


def test_clips_are_shown_whole_or_frame_by_frame() -> None:
    images, labels = pictures()
    clips = [[image, image.rotate(90), image] for image in images]
    seen: list[int] = []

    def look(shown: list[list[Image.Image]]) -> np.ndarray:
        seen.extend(map(len, shown))
        return red_is_right([frames[0] for frames in shown])

    whole = audit(cuescope.Classifier(look, takes="clips"), data=(clips, labels))
    frames = audit(data=(clips, labels))
    assert set(seen) == {3}
    assert (
        [s.value for s in whole.scores]
        == [s.value for s in frames.scores]
        == [1.0, -1.0]
    )


def test_words_are_asked_with_the_question_and_its_choices() -> None:
    asked: list[tuple[int, str | None]] = []

    def answer(images: list[Image.Image], question: str | None) -> str:
        asked.append((len(images), question))
        return "yes"

    image = Frame.from_array(np.zeros((4, 4, 3), np.uint8))
    samples = [
        Sample(
            key="a", frames=(image, image), question="Is it red?", choices=("yes", "no")
        ),
        Sample(key="b", frames=(image,), question="What is it?"),
        Sample(key="c", frames=(image,)),
    ]
    trials = [Trial(sample=sample, outputs=frozenset({"text"})) for sample in samples]
    model = cuescope.TextModel(answer, name="words")
    assert [response.text for response in model.respond(trials)] == ["yes"] * 3
    assert asked == [(2, "Is it red? Options: yes, no."), (1, "What is it?"), (1, None)]
    with pytest.raises(UserError, match="nothing inside it can be changed"):
        model.respond(
            [Trial(sample=samples[0], edit=HideTokens(shape=(1, 1, 1), bits=b"x"))]
        )
    wrong = cuescope.TextModel(lambda images, question: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(UserError, match="expected words, a str, got int"):
        wrong.respond(trials[:1])
    with pytest.raises(UserError, match=r"red cannot audit answer: .* output 'logits'"):
        audit(cuescope.TextModel(answer))


def test_a_model_of_the_callers_own_class_is_taken_as_it_is() -> None:
    class Own:
        Options = cuescope.Classifier.Options
        capabilities = cuescope.Classifier(red_is_right).capabilities
        fingerprint = "own"
        facts = {"by": "hand"}

        def respond(self, trials: Any) -> Any:
            model = cuescope.Classifier(red_is_right, labels=LABELS)
            return model.respond(trials)

    report = audit(Own())
    assert report.provenance.model.spec == "Own"
    assert report.provenance.model.facts == {"by": "hand"}
    assert len(report.findings) == 1


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("bird", "boat", "bird"), "a name of its own for each column, got 'bird' 2"),
        ("bird", "expected a list of names, got 'bird'"),
        ({"bird", "boat"}, "in the order of the columns, got a set, which has no"),
    ],
)
def test_columns_have_names_of_their_own(labels: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        cuescope.Classifier(red_is_right, labels=labels)


def test_a_table_is_read_by_the_names_of_its_columns() -> None:
    pandas = pytest.importorskip("pandas")

    def turned(images: Sequence[Image.Image]) -> Any:
        return pandas.DataFrame(red_is_right(images)[:, ::-1], columns=LABELS[::-1])

    def unnamed(images: Sequence[Image.Image]) -> Any:
        return pandas.DataFrame(red_is_right(images))

    def misnamed(images: Sequence[Image.Image]) -> Any:
        return pandas.DataFrame(red_is_right(images), columns=("up", "down"))

    plain = [score.value for score in audit().scores]
    for predict in (turned, unnamed):
        assert [score.value for score in audit(predict).scores] == plain
    with pytest.raises(UserError, match="columns named left, right, got up, down"):
        audit(misnamed)


@pytest.mark.parametrize("name", [5, "a\ud800", "a" * 10**5])
def test_a_name_is_a_text_that_files_can_hold(name: Any) -> None:
    with pytest.raises(UserError, match=r"^name: expected"):
        cuescope.Classifier(red_is_right, name=name)


def test_what_a_mitigator_learned_is_a_folder() -> None:
    learned: Any = None
    with pytest.raises(UserError, match="learned is None"):
        cuescope.Mitigated(red_is_right, learned)


def test_whoever_comes_second_writes_over_nobody(tmp_path: Path) -> None:
    """Two audits with one folder, of which one ends while the other asks."""

    def slow(images: Sequence[Image.Image]) -> np.ndarray:
        if not (tmp_path / "one" / "report.json").exists():
            audit(out="one", seed=1)
        return red_is_right(images)

    with pytest.raises(UserError, match="one holds the report of another audit"):
        audit(slow, out="one")
    assert cuescope.load("one").provenance.seed == 1


def test_vectors_are_as_long_in_each_batch() -> None:
    def embed(images: list[Image.Image]) -> np.ndarray:
        return np.ones((len(images), len(images)))

    model = cuescope.Classifier(red_is_right, labels=LABELS, embed=embed, batch_size=3)
    images = [Frame.from_array(np.full((4, 4, 3), v, np.uint8)) for v in range(4)]
    trials = [
        Trial(sample=Sample(key=str(row), frames=(image,), choices=LABELS))
        for row, image in enumerate(images)
    ]
    wanted = [replace(trial, outputs=frozenset({"embedding"})) for trial in trials]
    with pytest.raises(UserError, match=r"expected vectors of 3 numbers.*got .* of 1"):
        model.respond(wanted)


def test_pictures_may_come_one_by_one() -> None:
    images, labels = pictures()
    lists = audit(data=(images, labels))
    iterators = audit(data=(iter(images), iter(labels)))
    assert iterators.scores == lists.scores


@pytest.mark.parametrize("run", [3, None])
def test_what_is_no_folder_is_no_run(run: Any) -> None:
    with pytest.raises(UserError, match=r"run is .*: expected a file or folder"):
        cuescope.load(run)
    with pytest.raises(UserError, match=r"run is .*: expected a report of"):
        cuescope.confirm(run)


# -------------------------------------------------------------------------------------- data


def test_tables_and_lists_of_the_same_pictures_are_the_same_data(
    tmp_path: Path,
) -> None:
    pandas, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    images, labels = pictures()
    frame = pandas.DataFrame({"image": images, "label": labels})
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=list(LABELS))}
    )
    dataset = datasets.Dataset.from_dict(
        {"image": images, "label": labels}, features=features
    )
    arrays = np.stack([np.asarray(image) for image in images])
    reports = [
        audit(data=data, data_name="same", model_name="m")
        for data in (
            (images, labels),
            (arrays, labels),
            frame,
            dataset,
            {"image": images, "label": labels},
        )
    ]
    assert len({report.provenance.data.fingerprint for report in reports}) == 1
    assert len({report.hash for report in reports}) == 1


def test_columns_of_a_frame_may_be_called_by_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    images, labels = pictures(8)
    frame = pandas.DataFrame({0: images, 1: labels})
    report = audit(data=frame, data_options={"image": "0", "label": "1"})
    assert report.provenance.samples == 8


def test_a_frame_of_paths_keeps_groups_and_names(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    images, labels = pictures(8)
    for index, image in enumerate(images):
        image.save(tmp_path / f"{index}.png")
    frame = pandas.DataFrame(
        {
            "photo": [f"{i}.png" for i in range(8)],
            "label": labels,
            "group": list("aabbccdd"),
        }
    )
    report = audit(data=frame, data_options={"image": "photo", "root": tmp_path})
    answers = report.answers()
    assert set(answers["sample"]) >= {f"{i}.png" for i in range(8)}
    assert set(answers["group"]) == set("abcd")


def test_numbers_are_labels_by_their_classes() -> None:
    images, labels = pictures()
    numbers = np.array([LABELS.index(label) for label in labels])
    named = cuescope.Images(images, numbers, classes=LABELS)
    assert named.labels == LABELS
    assert named.fingerprint == cuescope.Images(images, labels).fingerprint
    assert cuescope.Images(images, numbers + 9).labels == ("9", "10")


# ---------------------------------------------------------------------------------- mistakes


def over(value: float, shape: tuple[int, ...] | None = None) -> Predict:
    return lambda images: np.full(shape or (len(images), 2), value)


IMAGES, WORDS = pictures(4)


class Broken(Sequence[Image.Image]):
    """Pictures of which the third is on a disk that is gone."""

    def __len__(self) -> int:
        return len(IMAGES)

    def __getitem__(self, index: Any) -> Any:
        if index == 2:
            raise OSError("disk gone")
        return IMAGES[index]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"model": over(0.5, (3, 3))},
            r"expected an array of shape \(4, 2\) for 4 images",
        ),
        (
            {"model": over(np.nan)},
            r"expected finite numbers, got .* with NaN .* at \(0, 0\)",
        ),
        ({"model": over(3.0)}, r"the sum of each row 1.*outputs='logits'"),
        ({"model": lambda images: "cat"}, "expected an array of numbers, got a str"),
        ({"model": lambda images: 1 / 0}, "'<lambda>' failed: got ZeroDivisionError"),
        (
            {"model": cuescope.Classifier(over(0.5), labels=("a", "b"))},
            "no column for .* 'left'",
        ),
        ({"out": ""}, "out is empty"),
        ({"model": 3}, "model is an int: expected a SPEC such as"),
        ({"model": "colur"}, "Did you mean 'colour'"),
        (
            {"data": (IMAGES, WORDS[:3])},
            "labels do not fit the images: expected 4, .* got 3",
        ),
        ({"data": ([], [])}, "no images"),
        ({"data": IMAGES}, r"Labels belong to images: data=\(images, labels\)"),
        ({"data": (IMAGES, [*WORDS[:3], None])}, "image 3 has no label .* got None"),
        ({"data": ([*IMAGES[:3], "no.png"], WORDS)}, "image 3: no.png cannot be read"),
        ({"data": (np.zeros((4, 4, 4, 3)), WORDS)}, "image 0 .*float64.*astype"),
        (
            {"data": {"image": IMAGES, "class_name": WORDS}},
            "no column 'label'.*data_options",
        ),
        (
            {
                "data": {"image": IMAGES, "label": WORDS},
                "data_options": {"lable": "label"},
            },
            "no option 'lable'.*'label'",
        ),
        ({"treshold": 0.4}, "no option 'treshold'.*Did you mean 'threshold'"),
        ({"sede": 1}, "Did you mean 'seed'"),
        ({"plan": True}, r"no option 'plan'\. cuescope\.plan takes the same words"),
        ({"seed": -1}, "option 'seed'"),
        ({"executor": "threads"}, "executor with an object in memory"),
        ({"device": "cuda"}, "Move the object itself"),
        ({"model_options": {"a": 1}}, "model_options with a model in memory"),
        ({"model": over(0.5 + 0j)}, "array of numbers, got .*complex"),
        ({"data": (IMAGES, ["\ud800", *WORDS[1:]])}, "a label: expected letters"),
        ({"data": (IMAGES, ["a" * 10**5, *WORDS[1:]])}, "at most 1,000 letters"),
        ({"data": (np.zeros((4, 0, 0, 3), np.uint8), WORDS)}, "image 0 is no image"),
        ({"data": (Broken(), WORDS)}, "image 2 cannot be read: got OSError: disk gone"),
        ({"data": ([__file__] * 4, WORDS)}, "a format that is none of Pillow's"),
        ({"out": "a\0b"}, "out can name no file"),
        ({"out": "a" * 5000}, "out can name no file.* a name of 5,000 letters"),
    ],
)
def test_a_mistake_is_one_clear_error(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        audit(**({"data": (IMAGES, WORDS)} | changes))
    assert "\n" not in str(caught.value)
    assert not list(Path().glob("runs/*/report.json"))


# ------------------------------------------------------------------------------- the results


def test_the_report_is_a_table_a_figure_and_a_page() -> None:
    pytest.importorskip("pandas")
    report = audit()
    table = report.to_pandas()
    assert list(table["value"]) == [1.0, -1.0]
    assert (
        table["sentence"][0] == "When red everywhere is there, 'left' loses 100 points."
    )
    assert table["finding"].tolist() == [True, False]
    answers = report.answers()
    right = answers[answers["condition"] == "baseline"]["correct"]
    assert right.mean() == pytest.approx(0.8)
    html = report._repr_html_()
    assert html.count("<img") == 6
    assert "loses 100 points" in html
    assert "<script" not in html
    figure = report.plot()
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == [
        "red everywhere | left",
        "red everywhere | right",
    ]
    assert Image.open(io.BytesIO(figure._repr_png_())).width > 300
    with pytest.raises(UserError, match=r"no metric 'gpa'.*'gap'"):
        report.plot("gpa")
    assert str(report).splitlines()[1].startswith("- When red everywhere")


def test_what_is_loaded_is_what_was_made(tmp_path: Path) -> None:
    report = audit(out=tmp_path / "kept")
    again = cuescope.load(tmp_path / "kept")
    assert again == report
    assert again.answers().equals(report.answers())
    assert again._repr_html_() == report._repr_html_()
    with pytest.raises(UserError, match="no report at"):
        cuescope.load(tmp_path / "nowhere")
    with pytest.raises(UserError, match="holds the report of another audit"):
        audit(lambda images: 1 - red_is_right(images), out=tmp_path / "kept")
    rmtree(tmp_path / "kept")
    audit(lambda images: 1 - red_is_right(images), out=tmp_path / "kept")
    with pytest.raises(UserError, match="holds another run by now"):
        report.answers()


def test_strangers_words_are_text(tmp_path: Path) -> None:
    images, labels = pictures()
    names = [label.replace("left", "<b>left</b>") for label in labels]
    html = audit(data=(images, names))._repr_html_()
    assert "<b>left" not in html
    assert "&lt;b&gt;left" in html
    names = [label.replace("left", "\x1b[31m\nnext: rm") for label in labels]
    shown = str(audit(data=(images, names)))
    assert "\x1b" not in shown
    assert not [line for line in shown.splitlines() if line.startswith("next")]


def test_the_page_of_somebody_else_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    report = audit(out="one")
    report.open()
    assert opened == [(tmp_path / "one" / "report.html").as_uri()]
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(tmp_path / "another"))
    with pytest.raises(UserError, match="untrusted"):
        cuescope.load("one").open()
    assert len(opened) == 1


def test_pandas_and_matplotlib_are_named_where_they_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = audit()
    for module in ("pandas", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    for call in (report.to_pandas, report.answers, report.plot):
        with pytest.raises(UserError, match=r"'cuescope\[notebook\]'` brings it"):
            call()
