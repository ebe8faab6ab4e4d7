"""`cuescope plugins check`: a table, exit codes, and the errors of a person."""

import sys
from pathlib import Path

import pytest

from cuescope.cli import main

PLUGIN = '''
from cuescope_sdk import Plugin, UserError, hookimpl
from cuescope_testing import FakeDataset, FakeMethod, FakeModel
from cuescope_testing._fake_method import FakeRelianceMethod
class Good(FakeDataset):
    """A data set."""
class Bad(FakeModel):
    def respond(self, trials):
        return super().respond(trials)[::-1]
class Choosy(FakeModel):
    capabilities = FakeModel.capabilities.model_copy(update={"edits": frozenset()})
    def respond(self, trials):
        raise UserError("choosy", expected="frames of its own world")
class Leaning(FakeRelianceMethod):
    """What a right model leans on."""
class Read(Plugin):
    """Reads nothing."""
    @staticmethod
    def fits(path):
        return False
    def read(self, path):
        raise UserError("read", expected="nothing")
class Table(Plugin):
    """A table."""
    def run(self):
        return []
class Odd(FakeMethod):
    @hookimpl
    def propose_features(self, audit):
        return []
'''
POINTS = """
[cuescope.datasets]
shelved = shelved_plugins:Good
both = shelved_plugins:Good
[cuescope.models]
bad = shelved_plugins:Bad
both = shelved_plugins:Bad
choosy = shelved_plugins:Choosy
[cuescope.logs]
read = shelved_plugins:Read
[cuescope.benches]
figures = shelved_plugins:Table
[cuescope.methods]
odd = shelved_plugins:Odd
leaning = shelved_plugins:Leaning
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plugins on the path, as pip would lay them."""
    from cuescope_testing._running import installed_entries

    (tmp_path / "shelved_plugins.py").write_text(PLUGIN)
    info = tmp_path / "cuescope_shelved-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: cuescope-shelved\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delitem(sys.modules, "shelved_plugins", raising=False)
    installed_entries.cache_clear()


def cuescope(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "check", *words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_a_good_plugin_is_ok(capsys: pytest.CaptureFixture[str]) -> None:
    assert cuescope("shelved", "-O", "seed=4") == 0
    printed = capsys.readouterr().out
    assert "ok      loads rgb frames" in printed
    assert "needs `other_options`" in printed
    passed = sum(line.startswith("ok  ") for line in printed.splitlines())
    assert passed >= 18
    assert printed.splitlines()[-1] == f"{passed} ok, 1 skipped"


def test_a_bad_plugin_fails_with_reason_and_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cuescope("bad", "--only", "alike_in_any_batch") == 1
    printed = capsys.readouterr().out
    assert "failed  answers alike in any batch" in printed
    assert "expected the answers given one by one" in printed
    assert "pad each trial by itself" in printed


def test_a_class_in_a_file_is_checked_as_what_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(PLUGIN)
    assert cuescope("./mine.py:Good", "--only", "rgb") == 0
    assert cuescope("./mine.py:Bad", "--only", "alike_in_any_batch") == 1
    assert "pad each trial by itself" in capsys.readouterr().out
    assert cuescope("./mine.py:God") == 2
    assert "Did you mean 'Good'?" in capsys.readouterr().err


def test_a_model_that_knows_other_labels_asks_for_data(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    own = "class Own(FakeModel):\n    def respond(self, trials):\n        "
    own += "return [('cat', 'dog').index(trials[0].sample.choices[0])]\n"
    Path("mine.py").write_text(PLUGIN + own)
    assert cuescope("./mine.py:Own") == 2
    line = capsys.readouterr().err
    assert "cannot answer about the choices top, middle, bottom" in line
    assert "Add --data SPEC" in line


def test_what_a_plugin_refuses_is_not_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cuescope("choosy") == 0
    printed = capsys.readouterr().out
    assert "refused: choosy: expected frames of its own world" in printed
    assert " failed" not in printed.splitlines()[-1]
    # nothing was checked at all
    assert cuescope("choosy", "--only", "alike_in_any_batch") == 1


def test_a_log_that_only_its_authors_can_write_is_not_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cuescope("read") == 0
    printed = capsys.readouterr().out
    assert "asks for a log of the format" in printed
    assert "failed" not in printed


def test_a_method_may_look_for_other_cues(capsys: pytest.CaptureFixture[str]) -> None:
    assert cuescope("odd", "--only", "planted_cue") == 1
    assert "(`--other-cues`)" in capsys.readouterr().out
    assert cuescope("odd", "--only", "finds", "--other-cues") == 0


def test_a_method_may_look_for_reliance(capsys: pytest.CaptureFixture[str]) -> None:
    assert cuescope("leaning", "--only", "planted_cue") == 1
    assert "(`--paradigm reliance`)" in capsys.readouterr().out
    assert cuescope("leaning", "--only", "planted_cue", "--paradigm", "reliance") == 0


def test_a_model_is_shown_the_data_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("bad", "--data", "shelved", "-O", "data.frames=1", "--only", "lightly")
    assert cuescope(*words) == 0
    assert "ok      imports lightly" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("shelve",), "Did you mean 'shelved'?"),
        (("figures",), "'figures' is a bench, for which there are no common checks"),
        (("shelved", "-O", "sed=1"), "Did you mean 'seed'?"),
        (("shelved:x",), "takes no ARG"),
        (("both",), "--kind"),
        (("both", "--kind", "modle"), "Did you mean 'model'?"),
        (("odd", "--paradigm", "relianc"), "Did you mean 'reliance'?"),
        (("shelved", "--data", "shelved"), "expected a model or tool"),
        (
            ("bad", "--data", "shelved", "-O", "data.split=x"),
            "expected train, val, test",
        ),
    ],
)
def test_a_persons_mistake_is_one_line(
    words: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cuescope(*words) == 2
    message = capsys.readouterr().err
    assert line in message
    assert message.count("\n") == 1
