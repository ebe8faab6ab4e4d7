"""The quality filter, as a build asks it."""

from collections.abc import Sequence

from cuescope_covar.builder.drafts import Draft
from cuescope_covar.builder.sources import Source


class Filter:
    """Keeps every image."""

    def judge(self, source: Source, drafts: Sequence[Draft]) -> None:
        """Give each draft its scores, and the reason why it is dropped."""
