"""Where a stock model's files are looked for, and where a plan ends."""

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import huggingface_hub
import pytest

from cuescope_core.errors import PlanStopped
from cuescope_sdk import Context, UserError
from cuescope_sdk.torch import Source


class Hub(BaseHTTPRequestHandler):
    """Has one model, and is silent about it."""

    def do_GET(self) -> None:
        known = self.path.startswith("/api/models/some/model")
        body = {"id": "some/model", "sha": "0" * 40} if known else {"error": "none"}
        content = json.dumps(body).encode()
        self.send_response(200 if known else 404)
        if not known:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        huggingface_hub, "try_to_load_from_cache", lambda *args, **options: None
    )


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, nothing_cached: None) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    # the client has read its address as it was imported
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    yield
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("hub")
def test_a_plan_ends_before_a_download() -> None:
    with pytest.raises(
        PlanStopped, match=r"the weights of some/model, which must be download"
    ):
        Source.find("mine", "some/model", None, Context(planning=True))


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("name", ["nosuch/model", "no--such/mo..del"])
def test_a_plan_refuses_a_model_that_the_hub_has_not(name: str) -> None:
    with pytest.raises(UserError, match=f"the hub has no model {name}"):
        Source.find("mine", name, None, Context(planning=True))


@pytest.mark.usefixtures("nothing_cached")
@pytest.mark.parametrize("planning", [True, False])
def test_without_the_hub_plan_and_audit_refuse_alike(
    monkeypatch: pytest.MonkeyPatch, planning: bool
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match=r"mine: some/model is not on this machine"):
        Source.find("mine", "some/model", None, Context(planning=planning))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"weight_map": {"a": "../secret.safetensors"}}, "names a file elsewhere"),
        ({"weight_map": {"a": "/secret.safetensors"}}, "names a file elsewhere"),
        ({"weight_map": {"a": "C:\\secret"}}, "names a file elsewhere"),
        ({"weight_map": {"a": ".."}}, "names a file elsewhere"),
        ({"weight_map": {"a": 1}}, "cannot be read"),
        ({"weight_map": {"a": ["b"], "c": {}}}, "cannot be read"),
        ({"weight_map": []}, "cannot be read"),
        ([], "cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_an_index_names_files_beside_it(
    tmp_path: Path, content: object, said: str
) -> None:
    (tmp_path / "secret.safetensors").write_bytes(b"")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    # none is no JSON: brackets by the thousand
    words = json.dumps(content) if content is not None else "[" * 100_000
    (folder / "model.safetensors.index.json").write_text(words)
    with pytest.raises(UserError, match=said):
        Source.find("model", str(folder), None, Context())


def test_a_model_folder_has_no_way_out(tmp_path: Path) -> None:
    """Somebody may have mailed it; the hub's own store keeps its files beside the snapshots."""
    outside = tmp_path / "secret"
    outside.write_text("secret")
    store = tmp_path / "models--some--model"
    (store / "blobs").mkdir(parents=True)
    (store / "blobs" / "abc").write_text("{}")
    snapshot = store / "snapshots" / "abc"
    (snapshot / "inner").mkdir(parents=True)
    (snapshot / "config.json").symlink_to(Path("../../blobs/abc"))
    (snapshot / "other.json").symlink_to(snapshot / "config.json")
    Source("mine", snapshot, "x")
    odd = snapshot / "inner" / "odd"
    for make in (
        lambda: odd.symlink_to(outside),
        lambda: odd.symlink_to(tmp_path),
        lambda: odd.symlink_to("/dev/zero"),
        lambda: os.mkfifo(odd),
    ):
        make()
        with pytest.raises(UserError, match=r"mine: .*odd' (leads out of|cannot be)"):
            Source("mine", snapshot, "x")
        odd.unlink()
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "config.json").symlink_to(store / "blobs" / "abc")
    with pytest.raises(UserError, match="leads out of its folder"):
        Source.find("mine", str(folder), None, Context())
