"""The rule for what nobody typed: marks of options, sources, and who made a run."""

import os
from pathlib import Path
from typing import Annotated, Any

import pytest

from cuescope_core.errors import UserError
from cuescope_core.trust import maker, risks
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


class TestMaker:
    """Only this user, with this cache folder, can write the signature."""

    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CUESCOPE_KEY", raising=False)
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def test_a_signature_fits_its_seal_and_cache(self, tmp_path: Path) -> None:
        signature = maker.sign("seal", tmp_path)
        assert maker.is_signed("seal", signature, tmp_path)
        assert not maker.is_signed("other", signature, tmp_path)
        assert not maker.is_signed("seal", signature, tmp_path / "other")
        assert not maker.is_signed("seal", None, tmp_path)
        assert not maker.is_signed("seal", "", tmp_path)
        assert not maker.is_signed("seal", "ä\udcff", tmp_path)

    def test_another_user_has_another_key(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        signature = maker.sign("seal", tmp_path)
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "stranger"))
        assert not maker.is_signed("seal", signature, tmp_path)

    def test_a_named_key_is_for_machines_that_share_runs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CUESCOPE_KEY", str(tmp_path / "shared"))
        signature = maker.sign("seal", tmp_path / "here")
        assert maker.is_signed("seal", signature, tmp_path / "there")

    def test_the_key_is_for_its_owner_alone(self, tmp_path: Path) -> None:
        maker.sign("seal", tmp_path)
        (key,) = (tmp_path / "data").rglob("key")
        assert key.stat().st_mode & 0o077 == 0

    def test_a_key_that_fills_the_memory_is_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = tmp_path / "key"
        key.touch()
        # a hole, which takes no place on the disk
        os.truncate(key, 2**40)
        monkeypatch.setenv("CUESCOPE_KEY", str(key))
        with pytest.raises(UserError, match="expected a file with a key of 32 bytes"):
            maker.sign("seal", tmp_path)

    @pytest.mark.parametrize("named", [".", "short", "short/key"])
    def test_a_named_key_that_is_none_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
    ) -> None:
        """A key of this process alone would make each of its runs a stranger's in the next."""
        (tmp_path / "short").write_bytes(b"16 bytes or less")
        monkeypatch.setenv("CUESCOPE_KEY", str(tmp_path / named))
        with pytest.raises(UserError, match="CUESCOPE_KEY: expected a file"):
            maker.sign("seal", tmp_path)

    def test_where_no_key_can_be_kept_a_process_knows_its_own_and_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
        with pytest.warns(UserWarning, match="no key can be kept .* Set CUESCOPE_KEY"):
            signature = maker.sign("seal", tmp_path)
        assert maker.is_signed("seal", signature, tmp_path)
        maker._key.cache_clear()  # as in the next process
        with pytest.warns(UserWarning, match="no key can be kept"):
            assert not maker.is_signed("seal", signature, tmp_path)

    def test_a_folder_without_hard_links_keeps_a_key(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError("no links here")

        monkeypatch.setattr(os, "link", refuse)
        signature = maker.sign("seal", tmp_path)
        maker._key.cache_clear()
        assert maker.is_signed("seal", signature, tmp_path)
        kept = sorted(f.name for f in (tmp_path / "data" / "cuescope").iterdir())
        assert kept == [".key.lock", "key"]

    @pytest.mark.parametrize("damage", ["cut", "flip"])
    def test_a_damaged_key_is_told(self, tmp_path: Path, damage: str) -> None:
        maker.sign("seal", tmp_path)
        (key,) = (tmp_path / "data").rglob("key")
        content = bytearray(key.read_bytes())
        content[3] ^= 1
        key.write_bytes(content if damage == "flip" else content[:20])
        maker._key.cache_clear()
        with pytest.raises(UserError, match=r"key of your runs: .* delete it: a new"):
            maker.is_signed("seal", "", tmp_path)

    def test_a_cache_folder_may_be_mounted_elsewhere(self, tmp_path: Path) -> None:
        (tmp_path / "cache").mkdir()
        signature = maker.sign("seal", tmp_path / "cache")
        (tmp_path / "cache").rename(tmp_path / "mount")
        assert maker.is_signed("seal", signature, tmp_path / "mount")
        (tmp_path / "strange").mkdir()
        maker.sign("other", tmp_path / "strange")
        assert not maker.is_signed("seal", signature, tmp_path / "strange")
