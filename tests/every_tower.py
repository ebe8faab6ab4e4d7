"""What cci and saliency can do with each image tower; run it to write benchmarks/results/towers.md.

Towers of `transformers` are tiny random networks of the library's own classes; of `open-clip` every
configuration is read as a plan reads it, and the kinds that open are tested in its own package.
"""

import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import open_clip
import timm
import transformers

from cuescope_cci import CCI
from cuescope_open_clip.towers import why_closed
from cuescope_saliency import Saliency
from cuescope_sdk import Capabilities, Context, Frame, Requirements, Sample, Trial
from cuescope_transformers import Transformers, TransformersOptions

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "towers.md"
TESTS = ROOT / "plugins/models/transformers/tests"
# written out in `conftest`, and by their shape in `tiny_towers`
STOCK = {
    "clip": "CLIP",
    "siglip": "SigLIP, SigLIP 2 of a fixed size",
    "siglip2": "SigLIP 2 NaFlex",
    "xclip": "X-CLIP",
}
SHAPED = {
    "metaclip_2": "MetaCLIP 2",
    "altclip": "AltCLIP",
    "chinese_clip": "Chinese-CLIP",
    "tipsv2": "TIPSv2",
    "blip": "BLIP retrieval",
    "align": "ALIGN",
    "videoprism": "VideoPrism",
}
LABELS = ("bird", "boat", "cow")
SHOWN = 3  # architectures of a row
FRAMES = {"xclip": 4, "videoprism": 4}


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    name: str
    answers: str
    cci: str
    saliency: str
    why: str


def module(name: str) -> ModuleType:
    spec = spec_from_file_location(f"towers_{name}", TESTS / f"{name}.py")
    found = module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def unmet(needs: Requirements, has: Capabilities) -> frozenset[str]:
    """What a method asks of a model in vain."""
    lacks = (needs.outputs - has.outputs) | (needs.edits - has.edits)
    return lacks | (needs.exposes - has.exposes)


def row_of(name: str, model: Any, frames: int) -> Row:
    """By its capabilities in the plan, once it has answered."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (frames, 40, 52, 3), dtype=np.uint8)
    sample = Sample(
        key="one", frames=tuple(map(Frame.from_array, pixels)), choices=LABELS
    )
    outputs = frozenset({"logits", "embedding"})
    [answer] = model.respond([Trial(sample=sample, outputs=outputs)])
    answers = np.isfinite(answer.logits).all() and np.ptp(answer.logits) > 0
    lacking = [unmet(each.requires, model.capabilities) for each in (CCI, Saliency)]
    reasons = {model.capabilities.why_not(need) for need in frozenset().union(*lacking)}
    cells = ["" if lacks else "yes" for lacks in lacking]
    why = "; ".join(sorted(reason.strip(" ()") for reason in reasons))
    return Row(name, "yes" if answers else "", *cells, why)


def rows_of_transformers(root: Path) -> Iterator[Row]:
    by_hand = module("conftest").write_model
    shaped = module("tiny_towers").write
    for kind, name in (STOCK | SHAPED).items():
        write = by_hand if kind in STOCK else shaped
        options = TransformersOptions(
            model=str(write(kind, root / kind)), templates="raw"
        )
        model = Transformers(options, Context(device="cpu"))
        yield row_of(name, model, FRAMES.get(kind, 1))


def rows_of_open_clip() -> Iterator[Row]:
    """A line for each way of building a tower, with the architectures that are built so."""
    groups = defaultdict(list)
    reasons: dict[str, str | None] = {}
    for name in open_clip.list_models():
        config = open_clip.get_model_config(name)
        vision = config["vision_cfg"]
        tower = str(vision.get("timm_model_name") or name)
        if tower not in reasons:
            model = SimpleNamespace(configuration=config, dim=config["embed_dim"])
            reasons[tower] = why_closed(model)
        groups[kind_of(vision), reasons[tower] or ""].append(name)
    for (kind, reason), names in sorted(groups.items()):
        opens = "" if reason else "yes"
        shown = ", ".join(f"`{name}`" for name in told(names))
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield Row(f"{kind}: {shown}{more}", "", opens, opens, reason)


def told(names: Sequence[str]) -> list[str]:
    """Some of the names, the shortest first."""
    return sorted(names, key=lambda name: (len(name), name))[:SHOWN]


def kind_of(vision: dict[str, Any]) -> str:
    """What a tower is called."""
    trunk = vision.get("timm_model_name")
    if trunk is not None:
        kinds = {
            "siglip": "SigLIP",
            "pe_core": "PE-Core",
            "eva": "EVA",
            "mci": "MobileCLIP",
            "vitamin": "ViTamin",
        }
        return next(
            (name for part, name in kinds.items() if part in trunk), "others of timm"
        )
    if isinstance(vision.get("layers"), list):
        return "ResNet"
    return "CoCa" if vision.get("attentional_pool") else "ViT"


def table(of_transformers: Sequence[Row], of_open_clip: Sequence[Row]) -> str:
    """The page."""
    head = ("answers", "cci", "saliency", "why not")
    dfn = sorted({name for name, tag in open_clip.list_pretrained() if "dfn" in tag})
    opened = ", ".join(f"`{name}`" for name in dfn)
    return "\n".join(
        (
            "# Image towers",
            "",
            "Which image towers cci and saliency look into, and which only answer. Written by "
            "`python tests/every_tower.py`, with",
            f"transformers {transformers.__version__}, open_clip {open_clip.__version__} and timm "
            f"{timm.__version__}. What is closed is refused in the plan, with the reason here.",
            "",
            "## `transformers:`",
            "",
            "Tiny random networks of the library's own classes. Each answers as the library's own "
            "call does (1e-5). Where cci runs,",
            "hidden patches have no influence, and noise in one patch changes its token alone "
            "(`tests/test_towers.py` of the package).",
            "",
            f"| family | {' | '.join(head)} |",
            f"|{'---|' * 5}",
            *map(line, of_transformers),
            "",
            "## `open-clip:`",
            "",
            f"All {len(open_clip.list_models())} architectures of the library by how their tower "
            "is built, read as a plan reads them,",
            "without weights: all of them answer by the library's own call. Of each kind that "
            "opens a small tower is tested in the",
            "package as above; published weights were not fetched for this page.",
            f"DFN are weights of these: {opened}. MetaCLIP's are tags of ViT.",
            "",
            f"| tower | {' | '.join(head[1:])} |",
            f"|{'---|' * 4}",
            *map(line, of_open_clip),
            "",
        )
    )


def line(row: Row) -> str:
    cells = astuple(row) if row.answers else (row.name, row.cci, row.saliency, row.why)
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """The page as the libraries are now."""
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        of_transformers = list(rows_of_transformers(Path(folder)))
    return table(of_transformers, list(rows_of_open_clip()))


if __name__ == "__main__":
    RESULTS.write_text(page())
