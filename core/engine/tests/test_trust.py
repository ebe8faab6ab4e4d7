"""The rule for what nobody typed: marks of options, sources, and who made a run."""

from pathlib import Path
from typing import Annotated, Any

import pytest

from cuescope_core.errors import UserError
from cuescope_core.trust import own_runs, risks
from cuescope_core.trust.addresses import Address
from cuescope_core.trust.source import Source
from cuescope_core.types import Options


class Asking(Options):
    """As of a plugin that asks a server."""

    server: Annotated[Address | None, risks.Names.host()] = None
    key_env: Annotated[str, risks.Names.secret()] = "A_KEY"
    extra: Annotated[dict[str, Any], risks.Words()] = {}
    fields: Annotated[dict[str, Any], risks.NeedsAllow("they choose prices")] = {}
    limit: Annotated[float | None, risks.RaisesLimit("it fills the memory")] = 8.0
    insecure: Annotated[bool, risks.OpensGuard("in clear")] = False
    pattern: Annotated[str | None, risks.Names.pattern()] = None
    forgotten: str = ""
    size: int = 3
    file: Path | None = None


def check(source: Source, **options: Any) -> None:
    source.check("asking", Asking(**options))


@pytest.fixture
def mail(tmp_path: Path) -> Source:
    (tmp_path / "mail").mkdir()
    return Source("the run file a.yaml", tmp_path / "mail")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size": 3000},  # a thousand times the usual one
        {"limit": 7.0},
        {"server": "4"},  # so many workers
        {"pattern": "video, patient"},
        {"insecure": False},
    ],
)
def test_what_names_nothing_of_others_is_taken(
    mail: Source, options: dict[str, Any]
) -> None:
    with_key = Source(mail.title, mail.folder, frozenset({"A_KEY"}))
    check(with_key, **options)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "A_KEY"),  # the plugin's own key: who reads the file would pay
        ({"key_env": "B_KEY"}, "B_KEY"),
        ({"server": "https://api.a.example/v1"}, "https://api.a.example/v1"),
        ({"server": "https://api.a.example\\@evil/"}, None),
        ({"extra": {"model": "dear"}}, "extra"),  # words that can be anything are none
        ({"fields": {"model": "dear"}}, "fields"),
        ({"limit": 9.0}, "limit"),
        ({"limit": None}, "limit"),
        ({"insecure": True}, "insecure"),
        ({"pattern": "(a+)+$"}, "(a+)+$"),
        ({"forgotten": "x y"}, "forgotten"),
        ({"file": "/etc/passwd"}, "/etc/passwd"),
    ],
)
def test_what_asks_for_more_says_the_word_that_allows_it(
    mail: Source, options: dict[str, Any], word: str | None
) -> None:
    with pytest.raises(UserError) as refused:
        check(mail, **options)
    if word is None:
        assert "an address with a user" in str(refused.value)
        return
    assert "in the run file a.yaml: expected it typed" in str(refused.value)
    assert str(refused.value).endswith(f"add --allow {word}")


def test_links_are_followed_before_a_file_is_in_the_folder(
    mail: Source, tmp_path: Path
) -> None:
    inside, outside = mail.folder / "a.txt", tmp_path / "secret.txt"
    inside.write_text("a")
    outside.write_text("secret")
    (mail.folder / "link").symlink_to(outside)
    (mail.folder / "loop").symlink_to(mail.folder / "loop")
    mail = Source(mail.title, mail.folder, frozenset({"A_KEY"}))
    check(mail, file=inside)
    for path in (
        mail.folder / "link",
        mail.folder / ".." / "secret.txt",
        mail.folder / "loop",
    ):
        with pytest.raises(UserError, match="--allow"):
            check(mail, file=path)
    check(
        Source(mail.title, mail.folder, frozenset({str(tmp_path), "A_KEY"})),
        file=outside,
    )


def test_a_run_of_ones_own_may_name_what_was_typed_for_it(tmp_path: Path) -> None:
    own = Source("the run a", tmp_path, typed_before=True)
    check(own, server="http://127.0.0.1:8000/v1", key_env="C_KEY", file="/etc/hosts")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this user's notes."""
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(tmp_path / "notes"))
    return tmp_path / "notes"


SEAL = "0123456789abcdef" * 2


def test_a_run_of_ones_own_is_known_with_where_it_was_asked_for(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own_runs.remember(SEAL)
    assert own_runs.asked_in(SEAL) == tmp_path
    for seal in (None, "", SEAL[::-1], f"../notes/{SEAL}", "ä\udcff"):
        assert not own_runs.is_own(seal)
    monkeypatch.setenv("CUESCOPE_OWN_RUNS", str(tmp_path / "of another user"))
    assert not own_runs.is_own(SEAL)


def test_without_a_variable_notes_lie_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUESCOPE_OWN_RUNS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    own_runs.remember(SEAL)
    assert (tmp_path / "cuescope" / "own-runs" / SEAL).is_file()
    assert own_runs.is_own(SEAL)


def test_where_no_note_can_be_kept_a_process_knows_its_own_and_says_so(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write_text("")
    with pytest.warns(UserWarning, match="somebody else's: .* set CUESCOPE_OWN_RUNS"):
        own_runs.remember(SEAL)
    with pytest.warns(UserWarning, match="a run of yours counts as somebody else's"):
        assert not own_runs.is_own(SEAL[::-1])
    monkeypatch.setattr(own_runs, "_unkept", {})  # as in the next process
    with pytest.warns(UserWarning, match="a run of yours counts as somebody else's"):
        assert not own_runs.is_own(SEAL)


@pytest.mark.parametrize("damage", ["cut", "flip", "renamed"])
def test_a_damaged_note_is_told_and_costs_its_run_alone(
    notes: Path, damage: str
) -> None:
    own_runs.remember(SEAL)
    own_runs.remember(SEAL[::-1])
    note = notes / SEAL
    content = bytearray(note.read_bytes())
    content[3] ^= 1
    if damage == "renamed":
        (notes / SEAL[::-1]).replace(note)
        own_runs.remember(SEAL[::-1])
    else:
        note.write_bytes(content if damage == "flip" else content[:9])
    with pytest.warns(UserWarning, match="is not what cuescope wrote"):
        assert not own_runs.is_own(SEAL)
    assert own_runs.is_own(SEAL[::-1])
