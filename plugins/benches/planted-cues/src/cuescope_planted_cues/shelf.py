"""What a bench has beside the installed plugins: auditors, models and data of its own."""

from cuescope_planted_cues.baselines import ERRORS, GAPS, ErrorRanker, GapRanker
from cuescope_planted_cues.composites import ClipTower, Composites
from cuescope_planted_cues.dialled import DIALLED, Dialled
from cuescope_planted_cues.sheet_methods import (
    SHEET,
    STATED,
    AnswerSheet,
    StatedFindings,
)
from cuescope_sdk import Plugin
from cuescope_testing import PluginShelf

OWN: dict[tuple[str, str], type[Plugin]] = {
    ("method", SHEET): AnswerSheet,
    ("method", STATED): StatedFindings,
    ("method", ERRORS): ErrorRanker,
    ("method", GAPS): GapRanker,
    ("model", DIALLED): Dialled,
    ("model", "clip-tower"): ClipTower,
    ("dataset", "composites"): Composites,
}


def shelf() -> PluginShelf:
    """What is installed, and these."""
    return PluginShelf(OWN, installed=True)
