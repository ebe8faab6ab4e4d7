"""Claims held against the data set's own annotations."""

from typing import ClassVar

from cuescope_sdk import Plugin
from cuescope_sdk.grounding import SceneVerifier


class SceneGraph(Plugin, SceneVerifier):
    """Things, relations, actions and motion that a data set tells of each frame.

    Of samples without a scene there is no evidence.
    """

    facts: ClassVar[dict[str, str]] = {"evidence": "the data set's annotated scenes"}
