"""What is typed after a test of cues: of the run that found them, as it can be pasted."""

from pathlib import Path

from cuescope_core import run_under_test as tested
from cuescope_core.runs import RunFolder

from .reports import make_report


def stored(folder: Path, **origin: object) -> Path:
    report = make_report()
    provenance = report.provenance.model_copy(update=origin)
    told = report.model_copy(update={"provenance": provenance})
    run = RunFolder(folder)
    run.prepare()
    run.save(told, {}, own=True)
    return folder


COMMAND = "cuescope audit trove --model toy --data d --part 1/2"


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
