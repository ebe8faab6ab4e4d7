"""Questions of the tool contract in each role: frames, names, texts and claims."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from cuescope_core.capabilities import ROLES, ToolRole
from cuescope_sdk import Frame, ImageEdit, generator
from cuescope_sdk.grounding import CLAIM_VERIFIER, Claim
from cuescope_sdk.maths import normalise
from cuescope_sdk.tools import NAMER, FrameGroup
from cuescope_testing._contract import NotApplicable, PerClass, ShownContract
from cuescope_testing._fake_data import CUE, DECOY

PROMPTS = ("Name an animal.", "Name a plant.", "Say where a tree stands.")


class AskedTool(ShownContract):
    """A tool, and what it is given in every role that it can fill, on frames of `data`."""

    kind = "tool"
    names: ClassVar[tuple[str, ...]] = (CUE, DECOY)
    label: ClassVar[str] = "top"
    count: ClassVar[int] = 4
    known_roles: ClassVar[tuple[ToolRole, ...]] = (
        *ROLES.values(),
        CLAIM_VERIFIER,
        NAMER,
    )
    tool: PerClass[Any] = PerClass(lambda contract: contract.built.of(contract))

    @property
    def frames(self) -> list[Frame]:
        """One frame of each of the samples."""
        return [sample.frames[0] for sample in self.samples]

    @property
    def roles(self) -> list[str]:
        """The roles that it can fill."""
        return [
            role.name for role in self.known_roles if hasattr(self.plugin, role.method)
        ]

    def inputs(self, role: str) -> list[Any]:
        """Inputs of a tool of this role, item by item."""
        if role == "image-editor":
            return [self._edit(frame) for frame in self.frames]
        if role in ("detector", "segmenter", "embedder"):
            return list(self.frames)
        if role == "claim-verifier":
            return [(sample, claims_about(self.names)) for sample in self.samples]
        if role == "namer":
            return [self._group(index) for index in range(len(self.frames))]
        if role == "proposer":
            return [self.label]
        return list(PROMPTS)

    def _edit(self, frame: Frame) -> ImageEdit:
        """All but the image's left third may change."""
        width, height = frame.load().size
        # part must stay, or a tool that repaints the whole frame would pass
        may_change = np.arange(width) >= width // 3
        mask = np.broadcast_to(may_change, (height, width))
        return ImageEdit(frame, f"remove the {self.names[0]}", mask)

    def _group(self, index: int) -> FrameGroup:
        """One frame, and the others; a text is a direction of its own in four dimensions."""

        def embed_texts(texts: Sequence[str]) -> np.ndarray:
            return normalise(
                # the same text has the same direction in every call and process
                np.stack([generator(0, "text", text).normal(size=4) for text in texts])
            )

        frames = self.frames
        centre = np.eye(4, dtype=np.float32)[index % 4]
        others = (*frames[:index], *frames[index + 1 :])
        # the three other directions: the rest is unlike the group
        rest = (1 - centre) / 3
        return FrameGroup(
            (frames[index],), others, centre, rest, embed_texts, (self.label,)
        )

    def ask(self, role: str, inputs: Sequence[Any], tool: Any = None) -> Any:
        """The tool's results for these inputs."""
        methods = {
            known_role.name: known_role.method for known_role in self.known_roles
        }
        method = getattr(self.tool if tool is None else tool, methods[role])
        # these two are asked for names beside their frames
        if role in ("detector", "segmenter"):
            return method(inputs, self.names)
        if role == "proposer":
            # a proposer takes one label a call, the other roles take a list
            return list(map(method, inputs))
        return method(inputs)

    def results(self, role: str) -> Any:
        """The tool's results in a role; raises NotApplicable where it cannot fill it."""
        if role not in self.roles:
            raise NotApplicable(f"asks about a {role}, which this tool is not")
        return self.ask(role, self.inputs(role))


def claims_about(names: Sequence[str]) -> tuple[Claim, ...]:
    """Claims of every kind: of a moment, of any and of none, of what is there and what is not."""
    first = names[0]
    last = names[-1]
    presence = _claim("entity", first)
    return (
        presence,
        presence.model_copy(update={"negated": True}),
        _claim("entity", last, frames=(0,)),
        presence.model_copy(update={"frames": ()}),
        _claim("attribute", first, "red"),
        _claim("relation", first, "above", last),
        _claim("action", first, "move left"),
        _claim("action", first, "want"),
        _claim("ego-motion", "", "turn left"),
        _claim("temporal", "", "before", parts=(presence, _claim("entity", last))),
    )


def _claim(kind: str, *words: str, **more: Any) -> Claim:
    """Its words are subject, predicate and object, as far as there are such."""
    said = zip(("subject", "predicate", "object"), words, strict=False)
    text = " ".join(filter(None, words))
    return Claim.model_validate({"kind": kind, "text": text, **dict(said), **more})
