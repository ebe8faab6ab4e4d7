"""Mistakes of a first week, over all commands: one line each, exit code 2."""

from pathlib import Path

import pytest
from command_line import run

ON_TOY = "--model toy-clip --data scenes"
MISTAKES = {
    "investigate": "--model is missing",
    f"investigate {ON_TOY} --methods ,": "names with commas",
    f"investigate {ON_TOY} --methods trov": "no method 'trov'",
    f"investigate {ON_TOY} --limit 0": "greater than 0",
    f"investigate {ON_TOY} -O trove": "expected key=value",
    f"investigate {ON_TOY} -O trove.k_max=many": "a valid integer",
    f"investigate {ON_TOY} -O confirm.interventions=shuffle": "no intervention 'shuffle'",
    f"investigate {ON_TOY} --on nosplit": "'train', 'val' or 'test'",
    f"investigate {ON_TOY} --log nothere.jsonl": "nothere.jsonl",
    f"investigate {ON_TOY} --out text.txt": "expected a folder, got a file",
    "investigate --log empty.jsonl --data scenes": "empty.jsonl",
    "investigate --log text.txt": "Say which: -O log.format=NAME",
    "audit cci --model toy-clip --data folder:emptydir": "no classes in",
    "audit trove --model toy-clip --data folder:text.txt": "PATH is a file",
    "audit trove --model toy-clip --data folder:nowhere": "no such path",
    "audit trove --model transformers:nosuch/model --data scenes --plan": "cannot be reached",
    f"audit trove {ON_TOY} --part 3/2": "numbers from 1 to 2",
    f"audit trove {ON_TOY} --repeats 3": "always gives the same answer",
    f"audit trove {ON_TOY} --dtype float8": "Did you mean 'float32'",
    f"audit trove {ON_TOY} --out text.txt": "Choose another folder",
    f"audit trove {ON_TOY} --observe nosuch": "no observer",
    f"audit trove {ON_TOY} --verify-with nosuch": "no method",
    f"audit trove {ON_TOY} --tool embedder=nosuch": "no tool",
    f"audit spurlens {ON_TOY}": "needs a detector",
    "audit trove --model open-clip:ViT-B-99 --data scenes": "no architecture",
    "confirm emptydir": "no report at emptydir",
    "confirm bad.json": "Invalid JSON",
    "mitigate nowhere --with last-layer": "no report at nowhere",
    "compare emptydir": "two runs or more",
    "export emptydir --affected 1": "no report at emptydir",
    "gate policy.yaml nowhere": "no report at nowhere",
    "gate emptydir policy.yaml": "The policy stands before the run",
    "gate nowhere.yaml stored": "`cuescope gate --schema` describes a policy",
    "gate tab.yaml stored": "got line 2: a tab: indent with blanks",
    "run tab.yaml": "got line 2: a tab: indent with blanks",
    "run emptydir": "`cuescope list emptydir` lists the runs",
    "run nowhere.yaml": "expected a run file, in YAML",
    f"audit trove {ON_TOY} --seed 1e3": "expected a whole number, got '1e3'",
    "plugins check nosuch": "that are installed. `cuescope plugins` lists",
    "plugins check trov": "Did you mean 'trove'?",
    "gate kind.yaml stored": "Did you mean 'cues-cost-at-most'",
    "gate nokind.yaml stored": "'rule' in each entry",
    "show text.txt": "is no report",
    "list nowhere": "no folder nowhere",
    "view nowhere": "no folder nowhere",
    "label nowhere": "no report at nowhere",
    "blind nowhere:x": "no dataset 'nowhere'",
    "blind scenes --limit 0": "--limit: expected a whole number of at least 1, got 0",
    "confirm stored --folds 2": "--folds: expected a whole number from 3 to 20, got 2",
    "export stored --what answer": "got 'answer'. Did you mean 'answers'?",
    "dev new method my idea": "one word too many for `cuescope dev new KIND NAME`: got 'idea' too",
    "show stored --jsn": "No such option: --jsn. Did you mean '--json'? (`cuescope show --help`)",
    "show stored -X": "No such option: -X (`cuescope show --help`)",
    "audit trove --model": "--model: expected a value, got none",
    "run r.yaml": "expected it typed on the command line",
    "run empty.yaml": "expected at least one",
    "dev schema nosuch": "expected run-file",
    "covar build nowhere --out x": "no dataset 'nowhere'",
    "methods --data folder:nowhere": "no such path",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mistakes")
    (place / "emptydir").mkdir()
    files = {
        "empty.jsonl": "",
        "text.txt": "hello",
        "bad.json": "{",
        "policy.yaml": "rules: [{rule: cues-cost-at-most, points: 5}]",
        "kind.yaml": "rules: [{rule: cues-cost-at-mst, points: 5}]",
        "nokind.yaml": "rules: [{points: 5}]",
        "tab.yaml": "rules:\n\t- {}",
        "r.yaml": "{models: [toy-clip], methods: [trove], data: ['folder:/nowhere']}",
        "empty.yaml": "{models: [], methods: [trove], data: [scenes]}",
    }
    for name, text in files.items():
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_line(
    place: Path,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("CUESCOPE_CACHE", str(place / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    run(*line.split(), code=2)
    error = capsys.readouterr().err
    assert MISTAKES[line] in error
    assert len(error.strip().splitlines()) == 1
