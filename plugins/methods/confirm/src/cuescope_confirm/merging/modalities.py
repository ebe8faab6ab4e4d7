"""Findings that have a place by definition: a whole modality, or the whole background."""

from collections.abc import Sequence

from cuescope_confirm.asking import BACKGROUNDS, MODALITIES, kind_of_background
from cuescope_confirm.study import Cue, Study

NO_CUE = "no cue"  # the note that says why what was found is none
PLACES = {
    "video": "the video",
    "text": "the question",
    "both": "the video and the question",
    "background": "the background",
}


def place_of(cue: Cue) -> str | None:
    """Where a finding without a place of its own lies; None for any other."""
    kind, key = cue.feature.kind, cue.feature.key
    if kind in MODALITIES:
        text = "text" in key or "question" in key
        return "text" if text else "video" if "video" in key else "both"
    return "background" if kind in BACKGROUNDS and kind_of_background(cue) is None else None


def modalities(cues: Sequence[Cue]) -> list[list[Cue]]:
    """The findings about whole modalities, those about one together and the surest first.

    What is said of both at once (a verdict, attention between the two) goes with the modality that
    has findings of its own, with the video where both have.
    """
    groups: dict[str, list[Cue]] = {}
    for cue in cues:
        if cue.feature.kind in MODALITIES:
            groups.setdefault(str(place_of(cue)), []).append(cue)
    of_both = groups.pop("both", [])
    if not groups:
        return [of_both] if of_both else []
    groups["video" if "video" in groups else "text"] += of_both
    return list(groups.values())


def fused(study: Study, groups: Sequence[Sequence[Cue]]) -> str | None:
    """Why video and question are no cues where the model needs both; None where it does not.

    A model that answers from both together does as it should; one that answers from either alone
    has findings of its own about that one alone.
    """
    if len(groups) < 2:
        return None
    run = groups[0][0].run
    said = next(iter(study.reports[run].statements), "")
    return f"The video and the question are no cues, since the model needs both. {run}: {said}"
