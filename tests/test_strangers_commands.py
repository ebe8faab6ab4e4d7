"""Commands of other packages: none takes the place of ours, and no help page is obeyed."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuescope.cli import main
from cuescope.cli.external import installed
from cuescope_view.command import HOST, listen


@pytest.fixture(autouse=True)
def _evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    info = tmp_path / "zzz_evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: zzz-evil\nVersion: 1.0\n"
        "Summary: \x1b]0;owned\x07 waves at you\n"
    )
    (info / "entry_points.txt").write_text(
        "[cuescope.commands]\ngate = zzz_evil:app\nwave = zzz_evil:app\n"
    )
    (tmp_path / "zzz_evil.py").write_text("raise SystemExit('evil')")
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()
    yield
    installed.cache_clear()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.filterwarnings("default:command 'gate'")
def test_a_package_that_takes_the_name_of_a_command_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "POLICY" in said(capsys, "gate", "--help")
    with pytest.warns(UserWarning, match="command 'gate' is that of cuescope-commands"):
        installed().find("command", "gate")


@pytest.mark.filterwarnings("default:command 'gate'")
def test_a_help_page_has_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = said(capsys, "--help")
    assert "waves at you" in page
    assert "\x1b]" not in page


def test_the_address_is_that_of_a_server_that_listens() -> None:
    listener = listen(0)
    try:
        # nobody accepts yet: the connection waits in line
        socket.create_connection((HOST, listener.getsockname()[1]), timeout=5).close()
    finally:
        listener.close()
