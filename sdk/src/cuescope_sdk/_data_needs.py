"""Needs of a method of its data, as it declares them: light, for entry points import it."""

from typing import Literal

from pydantic import NonNegativeInt

from cuescope_core.types import Value


class AnnotationNeed(Value):
    """Something that must be known of the samples, or nothing can be found.

    `key` is the annotation, `name` what people call it, `how` how one's own data gets it. A tool of
    the role `tool` makes it where it is not annotated; None where no tool does. Data without it are
    refused, unless the method's option `unless` is on: what it does without findings is asked for.
    With `unless` None there is a warning.
    """

    key: str
    name: str
    how: str
    tool: str | None = None
    unless: str | None = None


class DataNeeds(Value):
    """Samples that a method needs: `data_needs` of its class, checked by `require_data`.

    With fewer than `least` independent samples no finding is possible, whatever the model does;
    with fewer than `enough` only strong cues are found, and `enough_for` says what `enough` finds.
    They count the samples of a label, those that show an object (annotation "objects", else the
    label), or all (`each`). `choices` is how many answers there must be to choose from, `clips`
    says that the method is about what changes over time.
    """

    each: Literal["label", "object", "data set"] = "label"
    # below `least` an audit is refused, below `enough` it is warned of (docs/choose.md)
    least: NonNegativeInt = 0
    enough: NonNegativeInt = 0
    enough_for: str = ""
    choices: NonNegativeInt = 0
    questions: bool = False
    clips: bool = False
    annotation: AnnotationNeed | None = None
