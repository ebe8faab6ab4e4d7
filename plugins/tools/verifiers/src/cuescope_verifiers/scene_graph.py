"""Claims held against the data set's own annotations."""

from collections.abc import Sequence
from typing import Any, ClassVar

from cuescope_sdk import Context, Plugin
from cuescope_sdk.grounding import Case, Judgement, SceneVerifier


class SceneGraph(Plugin):
    """Things, relations, actions and motion that a data set tells of each frame."""

    facts: ClassVar[dict[str, str]] = {"evidence": "the data set's annotated scenes"}

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self._verifier = SceneVerifier()
        self.fingerprint = self._verifier.fingerprint

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim; "no evidence" for samples without a scene."""
        return self._verifier.judge(cases)
