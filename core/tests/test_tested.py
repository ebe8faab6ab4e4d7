"""What is typed after a test of cues: of the run that found them, as it can be pasted."""

from pathlib import Path

from cuescope_core import run_under_test as tested
from cuescope_core.context import cache_folder
from cuescope_core.runs import RunFolder

from .reports import make_report


def stored(folder: Path, **origin: object) -> Path:
    report = make_report()
    provenance = report.provenance.model_copy(update=origin)
    told = report.model_copy(update={"provenance": provenance})
    run = RunFolder(folder)
    run.prepare()
    run.save(told, {}, answers=cache_folder())
    return folder


COMMAND = "cuescope audit trove --model toy --data d --part 1/2"


def test_another_seed_finds_and_tests_anew(tmp_path: Path) -> None:
    """Parts are dealt by seed: the test alone would be of samples in which the cue was found."""
    found = stored(
        tmp_path / "demo-confirmed" / "found", command=COMMAND, part="1/2", seed=0
    )
    other = tmp_path / "demo-seed-1"
    assert tested.Tested(found).other_seed_step == (
        "find the cues again, `cuescope audit trove --model toy --data d --seed 1 --out "
        f"{other}`, and test them, `cuescope confirm {other}`"
    )
    # of folds, of all of the data or by a seed that was typed, more has to be typed
    assert tested.Tested(found, folds=4).other_seed_step is None
    for number, origin in enumerate(
        ({"part": None, "seed": 0}, {"part": "1/2", "seed": 3})
    ):
        run = stored(tmp_path / str(number) / "found", command=COMMAND, **origin)
        assert tested.Tested(run).other_seed_step is None


def test_a_remedy_is_named_and_what_it_makes_is_audited(tmp_path: Path) -> None:
    found = stored(tmp_path / "found", command=COMMAND, part="1/2", seed=0)
    named = tested.Tested(found, mitigator="last-layer")
    assert named.next_step == f"`cuescope mitigate {found} --with last-layer`"
    assert named.test_step == f"`cuescope confirm {found}`"
    assert named.audit_with("mitigated=a b") == (
        "cuescope audit trove --model toy --data d -O 'model.mitigated=a b'"
    )
    call = "cuescope.audit('trove', model=<net>, data='d')"
    python = stored(tmp_path / "python", command=call)
    assert tested.Tested(python).audit_with("mitigated=a") is None
