"""Other ways to put a question whose answer a cue may mislead (SpurLens, section 6.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten

# characters of a description: the question stands behind it in the same prompt
LONGEST = 800


@dataclass(frozen=True)
class Question:
    """A question about what is `shown`, an "image" or a "video".

    It is put in other words for the ways of asking of appendix J; they are ours, not the paper's.
    """

    text: str
    shown: str = "image"

    @staticmethod
    def for_description(shown: str = "image") -> str:
        """The question that asks for a description."""
        return f"Describe this {shown}: what is in it, and where?"

    def after_description(self, description: str) -> str:
        """The question after what the model itself said of the image, cut to `LONGEST`."""
        words = shorten(description, LONGEST, placeholder=" ...")
        return f"You said of this {self.shown}: {words}\n{self.text}"

    def with_guidance(self, thing: str) -> str:
        """The question after advice to look at `thing` ("a cup") alone."""
        return (
            f"Look for the parts that make up {thing}. What usually stands around it may mislead "
            f"you; judge by the object alone. {self.text}"
        )

    def with_warning(
        self,
        cues: Sequence[str],
        thing: str,
        claim: str = "it is there",
    ) -> str:
        """The question after a warning that the cues go with `thing`, but prove no claim."""
        return (
            f"{', '.join(cues)}: these often go with {thing}, but do not prove that {claim}. "
            f"Judge by the object alone. {self.text}"
        )
