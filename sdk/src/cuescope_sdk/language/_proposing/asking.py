"""What a language model is asked: for cues in four ways, and whether each is one.

The ways and the subjects are those of SpurLens (section 4, appendix A); the words are ours, for
the prompts of the appendix are not in the text that we have.
"""

from dataclasses import dataclass

EACH = 16
_FORM = (
    "Give {count} names, one a line, each of one to three words in the singular, and nothing else."
)
ANGLES = tuple(
    f"{wish} {_FORM}"
    for wish in (
        'What objects are often seen in photographs of "{label}"?',
        'What does the background of photographs of "{label}" often show?',
        'What objects often stand, lie or hang right beside "{label}"?',
        'What objects do people associate with "{label}"?',
    )
)
_FORM_OF_ANSWER = "Answer with yes or no."


@dataclass(frozen=True)
class Filter:
    """A yes/no question about a {cue} and a {label}; any other answer than `wanted` rejects.

    `reason` says of a rejected cue what is wrong with it.
    """

    question: str
    wanted: bool
    reason: str

    def asked(self, cue: str, label: str) -> str:
        """The prompt."""
        return f"{self.question.format(cue=cue, label=label)} {_FORM_OF_ANSWER}"

    def told(self, label: str) -> str:
        """The reason, about this label."""
        return self.reason.format(label=label)


SPURIOUS = (
    Filter(
        'Are there places with "{cue}" and without any "{label}"?', True, "is not without '{label}'"
    ),
    Filter(
        'Is "{cue}" there in nearly every photograph of "{label}"?',
        False,
        "is in almost all images of '{label}'",
    ),
    Filter('Is "{cue}" a part, a kind or a material of "{label}"?', False, "is part of '{label}'"),
    Filter(
        'Does nearly every "{cue}" come with "{label}"?', False, "almost all of it has '{label}'"
    ),
)
DETECTABLE = (
    Filter(
        "Some things have an outline around which a box can be drawn, such as a chair, a fence or "
        "a cow. Others have none, such as daylight, fog, noise or a mood. "
        'Can a box be drawn around "{cue}" in a photograph?',
        True,
        "is hard to detect",
    ),
    Filter(
        "A wheel is attached to a car and a handle to a cup; a rider is not attached to a horse, "
        'nor a plate to a fork. Is "{cue}" attached to "{label}" in this way?',
        False,
        "is physically part of '{label}'",
    ),
)
FILTERS = (*SPURIOUS, *DETECTABLE)


def proposal_prompts(label: str, count: int = EACH) -> list[str]:
    """The four prompts for cues of a label, `count` names each."""
    return [angle.format(label=label, count=count) for angle in ANGLES]
