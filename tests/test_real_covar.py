"""A real COVAR: thirty cut-outs on twelve photos of places, in all variants, and the real CLIP.

Three cut-outs of it, 360 images, are built by `make test`, and all of its 3,600 by `make test-all`:
every one of them with the object's own pixels. What CLIP makes of all subsets is told by
`cuescope dev bench covar`.
"""

import importlib.util
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope.cli import main
from cuescope_sdk import Context, Trial
from cuescope_sdk.data import CovarManifest, CovarRow

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
WEIGHTS = ASSETS / "clip-vit-b16-open_clip-visual.safetensors"
TABLE = ASSETS / "coco80-text-vit-b16.npz"
EACH = {"few": 12, "all": 40}  # images of a subset that CLIP is asked about
FEW = 3  # cut-outs of which `make test` builds images

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        not all(path.exists() for path in (WEIGHTS, TABLE, ASSETS / "stamps")),
        reason="needs real weights and photos: python tests/real_assets.py all",
    ),
]


def load_builder() -> Any:
    """tests/real_covar.py as a module."""
    place = Path(__file__).with_name("real_covar.py")
    spec = importlib.util.spec_from_file_location("real_covar", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["real_covar"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(
    scope="module", params=["few", pytest.param("all", marks=pytest.mark.long)]
)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("real-covar")
    assert load_builder().write(ASSETS, folder) >= 20
    source = ("folder:photos", "-O", "data.choices=photos/classes.txt")
    places = ("--backgrounds", "backgrounds.yaml", "--editor", "composite:backgrounds")
    few = ("--limit", str(FEW)) if request.param == "few" else ()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with pytest.raises(SystemExit) as ended:
            main(
                [
                    "covar",
                    "build",
                    *source,
                    *few,
                    *places,
                    "--no-filter",
                    "--out",
                    "covar",
                    "-q",
                ]
            )
    assert ended.value.code == 0
    return folder / "covar"


def originals(rows: list[CovarRow]) -> dict[str, CovarRow]:
    """The photo of each group."""
    return {row.group: row for row in rows if row.subset == CovarManifest.ORIGINAL}


def pixels(folder: Path, name: str) -> np.ndarray:
    return np.asarray(Image.open(folder / name))


@pytest.mark.long
def test_every_object_has_its_own_pixels(built: Path) -> None:
    rows = CovarManifest.read(built).rows
    choices = Context().build("dataset", f"covar:{built}").labels
    counts = Counter(row.subset for row in rows)
    assert len(rows) > (2500 if len(originals(rows)) > FEW else 250)
    assert (len(choices), counts["scale"], counts["viewpoint"]) == (
        80,
        4 * counts["crop"],
        0,
    )
    sources = originals(rows)
    shares: dict[str, list[float]] = {}
    for row in rows:
        mask = pixels(built, row.mask) > 0
        shares.setdefault(row.variant, []).append(float(mask.mean()))
        flip = {"background": np.asarray, "h-flip": np.fliplr, "v-flip": np.flipud}.get(
            row.subset
        )
        if flip is not None:
            before = flip(pixels(built, sources[row.group].image))
            assert (pixels(built, row.image)[mask] == before[mask]).all(), row.key
    usual = {name: float(np.mean(values)) for name, values in shares.items()}
    for scale in (1.5, 2, 4, 8):
        assert usual[f"scale-{scale:g}"] == pytest.approx(
            usual["background"] / scale**2, rel=0.1
        )


@pytest.mark.long
def test_clip_knows_fewer_of_the_small_ones(
    built: Path, request: pytest.FixtureRequest
) -> None:
    context = Context(device="cpu")
    data = context.build("dataset", f"covar:{built}")
    model = context.for_dataset(data).build(
        "model",
        "open-clip:ViT-B-16-quickgelu",
        {"checkpoint": str(WEIGHTS), "class_embeddings": str(TABLE)},
    )
    model.open_weights()
    rows: list[CovarRow] = CovarManifest.read(built).rows
    each = EACH["few" if "few" in request.node.name else "all"]

    def accuracy(variant: str) -> float:
        places = [n for n, row in enumerate(rows) if row.variant == variant]
        chosen = places[:: max(1, len(places) // each)]
        trials = [Trial(sample=data[place]) for place in chosen]
        answers = model.respond(trials)
        hits = [
            trial.sample.choices[answer.prediction] == trial.sample.label
            for trial, answer in zip(trials, answers, strict=True)
        ]
        return float(np.mean(hits))

    assert accuracy("background") > accuracy("scale-8") + 0.2
