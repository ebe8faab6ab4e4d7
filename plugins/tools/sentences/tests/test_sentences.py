"""The encoder against transformers by hand, and the real MiniLM."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from cuescope_sdk import Context, PlanStopped, UserError
from cuescope_sentences import SentenceTransformers
from cuescope_testing import ToolContract

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
MINILM = ASSETS / "all-MiniLM-L6-v2"
TEXTS = (
    "The chair is red.",
    "A lamp",
    "He sits down on a chair and drinks water again and again",
)


def encoder(
    model: Path | str, dtype: str = "float32", **options: object
) -> SentenceTransformers:
    given = SentenceTransformers.Options.model_validate(
        {"model": str(model), **options}
    )
    return SentenceTransformers(given, Context(device="cpu", dtype=dtype))


class TestContract(ToolContract):
    plugin = SentenceTransformers
    device = "cpu"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _tiny(cls, folder: Path) -> None:
        cls.options = {"model": str(folder)}


def test_rows_are_the_mean_of_the_tokens(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModel.from_pretrained(folder)
    wanted = []
    for text in TEXTS:
        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=16)
        with torch.no_grad():
            mean = network(**tokens).last_hidden_state[0].mean(dim=0).numpy()
        wanted.append(mean / np.linalg.norm(mean))
    rows = encoder(folder).encode(TEXTS)
    assert rows == pytest.approx(np.array(wanted), abs=1e-5)
    assert np.concatenate(
        [encoder(folder).encode([text]) for text in TEXTS]
    ) == pytest.approx(rows, abs=1e-5)
    assert encoder(folder).encode([]).shape == (0, 16)


def test_half_precision_gives_unit_rows(folder: Path) -> None:
    rows = encoder(folder, dtype="bfloat16").encode(TEXTS)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    assert rows == pytest.approx(encoder(folder).encode(TEXTS), abs=0.1)


def test_the_fingerprint_is_of_the_files(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.rglob("*"):
        if file.is_file():
            target = copy / file.relative_to(folder)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    same = encoder(folder).fingerprint
    assert (
        encoder(copy).fingerprint
        == same
        != encoder(folder, dtype="bfloat16").fingerprint
    )
    pooling = copy / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text().replace("mean", "max"))
    assert encoder(copy).fingerprint != same


def test_what_cannot_be_read_is_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        UserError, match="no-such/model is not on this machine"
    ) as error:
        encoder("no-such/model")
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match="no model folder"):
        encoder(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match=f"{tmp_path.name} cannot be read"):
        encoder(tmp_path).encode(["a"])


@pytest.fixture
def minilm(tmp_path: Path) -> Callable[[], SentenceTransformers]:
    """The real weights, with the configuration that the asset's package lacks (MiniLM-L6-H384)."""
    for file in MINILM.iterdir():
        if file.name != "config.json":  # which is its pooling's
            shutil.copy(file, tmp_path)
    transformers.BertConfig(
        hidden_size=384,
        num_hidden_layers=6,
        intermediate_size=1536,
        num_attention_heads=12,
    ).save_pretrained(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (tmp_path / "2_Normalize").mkdir()
    return lambda: encoder(tmp_path)


@pytest.mark.real
@pytest.mark.skipif(
    not (MINILM / "model.safetensors").is_file(),
    reason="needs `python tests/real_assets.py minilm`",
)
def test_the_real_minilm_tells_related_from_unrelated(
    minilm: Callable[[], SentenceTransformers],
) -> None:
    rows = minilm().encode(
        [
            "The weather is lovely today.",
            "It's so sunny outside!",
            "He drove to the stadium.",
            "A red chair is left of the table.",
            "The chair, which is red, stands left of a table.",
        ]
    )
    likeness = rows @ rows.T
    # the figures in the library's own documentation
    assert likeness[0, :3] == pytest.approx([1, 0.6660, 0.1046], abs=1e-3)
    assert likeness[1, 2] == pytest.approx(0.1411, abs=1e-3)
    assert likeness[3, 4] > 0.8 > 0.3 > likeness[3, :3].max()


def test_a_plan_opens_no_weights(folder: Path, tmp_path: Path) -> None:
    context = Context(device="cpu", planning=True)
    planned = SentenceTransformers(
        SentenceTransformers.Options(model=str(folder)), context
    )
    run = SentenceTransformers(
        SentenceTransformers.Options(model=str(folder)), Context(device="cpu")
    )
    assert (planned.fingerprint, planned.facts) == (run.fingerprint, run.facts)
    for ask in (planned.open_weights, lambda: planned.encode(["a dog"])):
        with pytest.raises(PlanStopped, match="the weights of"):
            ask()


def test_a_plan_refuses_what_cannot_be_downloaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    context = Context(device="cpu", planning=True)
    with pytest.raises(UserError, match="no-such/model is not on this machine"):
        SentenceTransformers(
            SentenceTransformers.Options(model="no-such/model"), context
        )
