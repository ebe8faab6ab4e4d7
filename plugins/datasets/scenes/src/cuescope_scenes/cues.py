"""Backgrounds as planted cues: each is the partner of one label."""

from collections.abc import Mapping

from cuescope_sdk import PlantedCue


def cue_key(label: str) -> str:
    """What the answer sheet calls the background of a label."""
    return f"background of {label}"


def background_cues(partners: Mapping[str, str]) -> tuple[PlantedCue, ...]:
    """The answer sheet of a data set whose labels have these backgrounds as partners."""
    cues = []
    for label, background in partners.items():
        cue = PlantedCue(key=cue_key(label), name=background, labels=(label,))
        cues.append(cue)
    return tuple(cues)


def shown_cues(partners: Mapping[str, str], background: str) -> dict[str, tuple[bool]]:
    """Of every cue, whether the one frame shows it."""
    return {
        cue_key(label): (partner == background,) for label, partner in partners.items()
    }
