"""Traces that were recorded, over videos that are frames on disk: nothing else is known of them."""

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import rmtree

import pytest

from cuescope.cli import main
from cuescope_core.runs import load_report
from cuescope_sdk import Context, Report, Sample, Trial
from cuescope_sdk.grounding import SCENE
from cuescope_shape_world import ShapeWorld
from cuescope_shape_world.scripted import Scripted
from cuescope_shape_world.statements import is_true

VIDEOS = 7
CLIPS = ("--data", "folder:clips", "-O", "data.frames=16")
BY_BOXES = (
    "--tool",
    "claim-verifier=box-geometry",
    "-O",
    "tool.claim-verifier.detector=shape-detector",
)
BRIEF = ("--no-cache",)
Ran = Callable[..., tuple[int, str, str]]
Judged = Callable[..., tuple[Report, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`clips`, a folder of frames a video and a table of questions; `traces.jsonl` about them."""
    place = tmp_path_factory.mktemp("traces")
    for sample in samples():
        folder = place / "clips" / sample.key
        folder.mkdir(parents=True)
        for number, frame in enumerate(sample.frames):
            frame.load().save(folder / f"{number:03d}.png")
    rows = [
        {
            "video": s.key,
            "question": s.question,
            "answer": s.label,
            "choices": s.choices,
        }
        for s in samples()
    ]
    write(place / "clips" / "manifest.jsonl", rows)
    lines = []
    for sample in samples():
        (said,) = reasoner().respond([Trial(sample=sample)])
        steps, _, answer = (said.text or "").rpartition("\nAnswer: ")
        lines.append({"sample": sample.key, "trace": steps, "answer": answer})
    write(place / "traces.jsonl", lines)
    return place


def data() -> ShapeWorld:
    made: ShapeWorld = Context().build("dataset", "shape-world", {"val": VIDEOS})
    return made


def samples() -> list[Sample]:
    return list(map(data().__getitem__, range(VIDEOS)))


def reasoner() -> Scripted:
    """Three claims of five are true."""
    made: Scripted = (
        Context()
        .for_dataset(data())
        .build("model", "scripted", {"grounding": 0.6, "accuracy": 0.5})
    )
    return made


def write(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def ran(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Ran:
    """`ran("--model", ...)`: exit code, terminal and errors of an audit into `tmp_path/run`."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(place / "cache"))
    monkeypatch.chdir(place)

    def run(*words: str | Path) -> tuple[int, str, str]:
        asked = ["audit", "step-grounding", *map(str, words), *BRIEF]
        with pytest.raises(SystemExit) as caught:
            main([*asked, "-v", "--out", str(tmp_path / "run")])
        assert isinstance(caught.value.code, int)
        return caught.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def judged(ran: Ran, tmp_path: Path) -> Judged:
    """`judged("--data", ...)`: the report on `traces.jsonl`, and what the terminal shows."""

    def report(
        *words: str | Path, file: str | Path = "traces.jsonl"
    ) -> tuple[Report, str]:
        rmtree(tmp_path / "run", ignore_errors=True)  # of another audit
        code, shown, errors = ran("--model", f"traces:{file}", *words)
        assert code == 0, errors
        return load_report(tmp_path / "run"), shown

    return report


def supported(report: Report) -> float:
    (score,) = (
        s
        for s in report.scores
        if (s.feature, s.metric) == ("reasoning", "step_grounding_rate")
    )
    assert score.value is not None
    return score.value


# ---------------------------------------------------------------------- by traces and frames alone


def test_frames_and_traces_tell_what_was_planted(
    judged: Judged, tmp_path: Path
) -> None:
    report, shown = judged(
        *CLIPS, *BY_BOXES, "-O", "other_verifiers=tracks:shape-detector"
    )
    planted = []
    for sample in samples():
        steps, _ = reasoner().reason(sample)
        scene = sample.annotations[SCENE]
        shares = [
            [is_true(c, scene[s.frame]) for c in s.claims if c.kind != "ego-motion"]
            for s in steps
        ]
        planted.append([sum(one) / len(one) for one in shares if one])
    expected = sum(sum(of) / len(of) for of in planted) / len(planted)
    assert supported(report) == pytest.approx(expected, abs=0.06)
    assert report.notes["traces"].startswith(f"{VIDEOS} of {VIDEOS} ")
    (other,) = (
        e for e in report.evidence if e.check == "verifier tracks:shape-detector"
    )
    assert other.value is not None
    assert other.value > 0.9  # kappa
    trace = shown.partition("One trace")[2].partition("Checks")[0]
    assert min(trace.count(mark) for mark in "✓✗") >= 1
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("<img") >= 6
    assert re.search(r"At frame \d+, ", page)


def test_annotated_scenes_need_no_verifier_and_agree(judged: Judged) -> None:
    by_scene, _ = judged("--data", "shape-world", "-O", f"data.val={VIDEOS}")
    by_boxes, _ = judged(*CLIPS, *BY_BOXES)
    assert supported(by_boxes) == pytest.approx(supported(by_scene), abs=0.06)


@pytest.mark.filterwarnings("ignore:step-grounding. the data has no annotated scenes")
def test_with_nothing_to_look_at_it_says_what_to_add(judged: Judged) -> None:
    report, shown = judged(*CLIPS)
    said = " ".join(shown.partition("Looked at")[0].split())
    assert "there is nothing to hold its claims against" in said
    remedy = re.search(r"Add a verifier, as (--tool \S+ -O \S+)\.", said)
    assert remedy is not None
    assert "why unverifiable" in report.notes
    assert not [
        s
        for s in report.scores
        if s.metric == "step_grounding_rate" and s.value is not None
    ]
    words = remedy[1].replace("detector=owl", "detector=shape-detector").split()
    assert supported(judged(*CLIPS, *words)[0]) > 0.4


# ----------------------------------------------------------------------------------- odd traces

HILL = "At frame 2, there is a hill."
ODD = {
    "empty": "",
    "a thousand steps": "\n".join(f"{number}. {HILL}" for number in range(1, 1001)),
    "no such frame": f"1. At frame 99, there is a red circle.\n2. {HILL}",
    "two times": "1. At the start, there is a hill at the end.",
    "another language": "1. 左边有一个红色的圆形。\n2. 然后它消失了。",
    "html": "1. At frame 2, there is a <script>alert(1)</script><img src=x onerror=alert(2)> hill.",
    "controls": f"1. \x1b[2J\x1b]0;gone\x07{HILL}\u202e\x00\x9b31m",
}


def recorded(path: Path, traces: Sequence[str]) -> Path:
    """Traces of the first samples, with the right answer in red to those that say anything."""
    return write(
        path,
        [
            {
                "sample": s.key,
                "trace": trace,
                "answer": f"\x1b[31m{s.label}" if trace else None,
            }
            for s, trace in zip(samples(), traces, strict=False)
        ],
    )


def test_odd_traces_are_counted(judged: Judged, tmp_path: Path) -> None:
    file = recorded(tmp_path / "odd.jsonl", list(ODD.values()))
    report, _ = judged(*CLIPS, *BY_BOXES, file=file)
    for problem in ("6 of 7 ", "empty 1", "too many steps 1"):
        assert problem in report.notes["traces"]
    assert "1 about a moment outside" in report.notes["claims"]
    assert supported(report) == 1.0  # of what can be read: the hill


@pytest.mark.parametrize(
    ("case", "seen"),
    [
        (
            "html",
            "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;",
        ),
        ("controls", HILL),
        ("another language", "左边有一个红色的圆形"),
    ],
)
def test_traces_do_no_harm_to_terminal_and_page(
    judged: Judged, tmp_path: Path, case: str, seen: str
) -> None:
    report, shown = judged(
        *CLIPS, *BY_BOXES, file=recorded(tmp_path / "odd.jsonl", [ODD[case]])
    )
    assert report.notes["traces"].startswith(f"1 of {VIDEOS} ")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert seen in page
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    for text in (shown, page):
        categories = {unicodedata.category(letter) for letter in text if letter != "\n"}
        assert categories.isdisjoint({"Cc", "Cf", "Cs"})


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", "is empty"),
        ("{]", "line 1 is no JSON"),
        ('{"sample": "val-00000"}', "line 1: no 'trace'"),
        ('{"sample": "val-00000", "trace": [1]}', "expected text, got int"),
        ('{"sample": "val-0000", "trace": "x"}', "Did you mean 'val-0"),
        (
            '{"sample": "\\u001b[2J", "trace": "x"}',
            r"without control characters, got '\x1b[2J'",
        ),
    ],
)
def test_a_file_that_is_no_recording_is_one_line(
    ran: Ran, tmp_path: Path, lines: str, words: str
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(lines)
    code, shown, errors = ran("--model", f"traces:{file}", *CLIPS)
    assert (code, shown) == (2, "")
    assert words in errors
    assert len(errors.splitlines()) == 1
    assert "\x1b" not in errors
