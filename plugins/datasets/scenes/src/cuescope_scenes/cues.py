"""Planted cues: the answer sheet, and what a picture shows of it."""

from collections.abc import Container, Iterable, Mapping

from cuescope_sdk import PlantedCue


def background_cues(partners: Mapping[str, str]) -> tuple[PlantedCue, ...]:
    """The answer sheet of a data set whose labels have these backgrounds as partners."""
    cues = []
    for label, background in partners.items():
        key = f"background of {label}"
        cues.append(PlantedCue(key=key, name=background, labels=(label,)))
    return tuple(cues)


def shown_cues(
    cues: Iterable[PlantedCue], names: Container[str]
) -> dict[str, tuple[bool]]:
    """Of every cue, whether the one frame shows it; `names` is all that it shows."""
    return {cue.key: (cue.name in names,) for cue in cues}
