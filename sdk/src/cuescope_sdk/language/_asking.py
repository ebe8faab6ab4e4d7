"""Other ways to put a question whose answer a cue may mislead (SpurLens, section 6.2, appendix J).

Five are known: `ensemble` asks in several wordings and takes what most say, `dual` asks for a
description first, `guiding` says to look at the object alone, `spurious-list` warns of all cues and
`spurious-top` of one. The words are ours, not the paper's.
"""

from collections.abc import Sequence
from textwrap import shorten
from typing import Literal

WayOfAsking = Literal["ensemble", "dual", "guiding", "spurious-list", "spurious-top"]
# characters of a description: the question stands behind it in the same prompt
LONGEST = 800


def description_request(shown: str = "image") -> str:
    """What asks for a description; `shown` is "image" or "video"."""
    return f"Describe this {shown}: what is in it, and where?"


def shorten_description(text: str) -> str:
    """A description in one line, at most `LONGEST` characters."""
    return shorten(text, LONGEST, placeholder=" ...")


def add_description(question: str, description: str, shown: str = "image") -> str:
    """The question after what the model itself said of the image."""
    return f"You said of this {shown}: {description}\n{question}"


def add_guidance(question: str, thing: str) -> str:
    """The question after advice to look at `thing` ("a cup") alone."""
    return (
        f"Look for the parts that make up {thing}. What usually stands around it may mislead you; "
        f"judge by the object alone. {question}"
    )


def add_warning(
    question: str, cues: Sequence[str], thing: str, claim: str = "it is there"
) -> str:
    """The question after a warning that the cues go with `thing`, and do not prove the claim."""
    return (
        f"{', '.join(cues)}: these often go with {thing}, but do not prove that {claim}. "
        f"Judge by the object alone. {question}"
    )
