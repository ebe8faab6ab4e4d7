"""`cuescope dev bench step-grounding`: components, settings, and how hard other data is."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from cuescope.cli import app, main
from cuescope_core.runs import load_report
from cuescope_sdk import Context

CLIP = {
    "embed_dim": 16,
    "vision_cfg": {
        "image_size": 32,
        "layers": 1,
        "width": 32,
        "head_width": 16,
        "patch_size": 8,
    },
    "text_cfg": {
        "context_length": 16,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    },
}


def write_clip(folder: Path) -> None:
    """A tiny open_clip model with random weights."""
    folder.mkdir()
    content = {"model_cfg": CLIP, "preprocess_cfg": {}}
    (folder / "open_clip_config.json").write_text(json.dumps(content))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights = open_clip.create_model(f"local-dir:{folder}").state_dict()
    save_file(weights, folder / "open_clip_model.safetensors")


def tables_of(text: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table that `--json` writes."""
    return {table["title"]: table["rows"] for table in json.loads(text)["tables"]}


@pytest.mark.long
def test_one_command_tells_components_settings_and_difficulty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "cuescope_core.context.Context",
        partial(Context, cache=tmp_path / "cache", device="cpu"),
    )
    words = [
        "--reasoners",
        "4",
        "--videos",
        "3",
        "--components",
        "true",
        "--difficulty",
        "true",
    ]
    sweep = ("--sweep", "unverifiable=exclude,penalise")
    app(
        ["dev", "bench", "step-grounding", *words, *sweep, "--json"],
        standalone_mode=False,
    )
    tables = tables_of(capsys.readouterr().out)
    foretold = tables["What predicts retention: components and baselines"]
    told = {row["predicted by"]: row for row in foretold}
    assert told["verified claims alone"]["paper"] == 0.83
    assert {"all three", "no reasoning: accuracy alone"} <= told.keys()
    [law] = [
        row
        for title, rows in tables.items()
        if title.startswith("Does")
        for row in rows[:1]
    ]
    assert told["verified claims alone"]["r"] == pytest.approx(law["r"])
    settings = tables["The same under other settings"]
    assert [row["setting"] for row in settings] == [
        "unverifiable=exclude",
        "unverifiable=penalise",
    ]
    assert settings[0]["ranks"] == 1
    [frames] = [
        r
        for r in tables["Is the other data only harder?"]
        if r["complexity"] == "frames"
    ]
    # by design: its videos are longer
    assert frames["out of it"] > frames["in distribution"]


@pytest.mark.long
def test_models_are_audited_on_splits_that_options_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setattr(
        "cuescope_core.context.Context", partial(Context, cache=cache, device="cpu")
    )
    known = ("--data", "shape-world:test", "--data-options", '{"test": 4}')
    other = ("--ood-data", "shape-world:ood", "--ood-data-options", '{"ood": 3}')
    swept = ("--verifier", "box-geometry:shape-detector")
    swept += ("--sweep", "claim-verifier.threshold=0.1,0.9")
    words = (
        "dev",
        "bench",
        "step-grounding",
        "--models",
        "scripted,scripted",
        *known,
        *other,
    )
    app([*words, *swept, "--json"], standalone_mode=False)
    settings = tables_of(capsys.readouterr().out)["The same under other settings"]
    names = [f"claim-verifier.threshold={value}" for value in (0.1, 0.9)]
    assert [row["setting"] for row in settings] == names
    stored = [load_report(file) for file in cache.rglob("report.json")]
    assert {(r.provenance.data.spec, r.provenance.samples) for r in stored} == {
        ("shape-world:test", 4),
        ("shape-world:ood", 3),
    }
    verifiers = [r.provenance.tools["claim-verifier"].options for r in stored]
    assert [options["threshold"] for options in verifiers].count(
        0.9
    ) == 2  # on both data sets


@pytest.mark.long
def test_maps_of_stored_runs_are_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two explainers, a run of each for each model; three models need three runs of each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    write_clip(Path("tiny"))
    lines = []
    for index, label in enumerate(("cup", "dog") * 3):
        for folder, pixels in (("images", index * 40), ("masks", 0)):
            Path(folder).mkdir(exist_ok=True)
            drawn = np.full((32, 32, 3), pixels, np.uint8)
            drawn[8:24, 8:24] = 255
            Image.fromarray(drawn).save(f"{folder}/{index}.png")
        row = {
            "path": f"images/{index}.png",
            "mask": f"masks/{index}.png",
            "label": label,
        }
        lines.append(json.dumps(row))
    Path("manifest.jsonl").write_text("\n".join(lines))

    def cuescope(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = capsys.readouterr()
        return out if ended.value.code == 0 else err

    for name in ("rollout", "grad-cam"):
        maps = (
            "audit",
            f"saliency:{name}",
            "--model",
            "open-clip:tiny",
            "--data",
            "folder:.",
        )
        cuescope(*maps, "--out", name)
    ask = (
        "audit",
        "step-grounding",
        "--model",
        "scripted",
        "-O",
        "perturbations=",
        "--data",
    )
    brief = ("-O", "shown=0")
    for name, grounding in {"a": "0.3", "b": "0.9"}.items():
        for split in ("test", "ood"):
            data = (
                f"shape-world:{split}",
                "-O",
                f"data.{split}=3",
                "-O",
                f"model.grounding={grounding}",
            )
            cuescope(*ask, *data, *brief, "--out", f"{name}-{split}")
    bench = (
        "dev",
        "bench",
        "step-grounding",
        "--components",
        "true",
        "--runs",
        "a-test,b-test",
    )
    bench += ("--ood", "a-ood,b-ood")
    told = cuescope(*bench, "--saliency", "rollout,rollout,grad-cam,grad-cam", "--json")
    assert "no reasoning: map of rollout" in told
    assert "no reasoning: map of grad-cam" in told
    wrong = " ".join(cuescope(*bench, "--saliency", "rollout,grad-cam").split())
    assert "of each explainer a run for each of the 2 models" in wrong
    assert "got map of rollout, map of grad-cam" in wrong
