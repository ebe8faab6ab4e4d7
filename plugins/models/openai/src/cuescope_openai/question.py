"""What is asked in one request, and the key under which its answer is remembered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuescope_openai.pictures import Look, image_parts, pixel_digests
from cuescope_sdk import Frame, digest


@dataclass(frozen=True)
class Question:
    """Words and frames for a model; `parameters` are the other fields of the request.

    `scoring` are the fields that ask for log-probabilities; a server may refuse these.
    """

    said: str
    parameters: Mapping[str, Any]
    system: str = ""
    frames: Sequence[Frame] = ()
    look: Look = field(default_factory=Look)
    scoring: Mapping[str, Any] = field(default_factory=dict)

    def key(self, url: str) -> str:
        """Digest of all that enters the answer; frames are loaded for it, and not kept."""
        asked = (self.said, self.system, dict(self.parameters), dict(self.scoring))
        return digest("question", url, asked, pixel_digests(self.look, self.frames))

    def body(self, *, scored: bool = True) -> dict[str, Any]:
        """The request: frames first, then the words."""
        parts = image_parts(self.look, self.frames)
        content = [*parts, {"type": "text", "text": self.said}] if parts else self.said
        messages = [{"role": "user", "content": content}]
        if self.system:
            messages.insert(0, {"role": "system", "content": self.system})
        return {**self.parameters, "messages": messages, **(self.scoring if scored else {})}
