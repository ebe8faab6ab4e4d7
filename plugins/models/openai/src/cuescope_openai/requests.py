"""A request for one answer: its text, its frames, and the key of the answer in the memory."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from string import ascii_uppercase
from typing import Any, Literal, TypeVar

import numpy as np
from PIL import Image

from cuescope_openai.answers import asks_by_letter, choice_letters
from cuescope_openai.endpoint import parameters
from cuescope_openai.options import OpenAIOptions
from cuescope_sdk import Frame, Sample, UserError, digest

T = TypeVar("T")
JPEG_QUALITY = 95  # of the frames of a video
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
MAX_REQUEST = 256 * 2**20  # bytes of encoded frames


@dataclass(frozen=True)
class ImageFormat:
    """How a frame is sent; `max_side` in pixels, None as it is; `detail` is OpenAI's."""

    max_side: int | None = None
    detail: str | None = None

    def resize(self, frame: Frame) -> Image.Image:
        """The pixels that are sent, before they are encoded."""
        image = frame.load().convert("RGB")
        longest = max(image.size)  # never made larger: a server bills pixels
        if self.max_side is None or longest <= self.max_side:
            return image
        width, height = (
            max(1, round(side * self.max_side / longest)) for side in image.size
        )
        return image.resize((width, height), Image.Resampling.LANCZOS)

    def message_part(self, frame: Frame) -> dict[str, Any]:
        # In the request itself: no server of the user's needs to be reached from outside.
        image = {"url": f"data:image/png;base64,{self._encode(frame, 'png')}"}
        if self.detail is not None:
            image["detail"] = self.detail
        return {"type": "image_url", "image_url": image}

    def video_part(self, frames: Sequence[Frame]) -> dict[str, Any]:
        """Frames as one video, as vLLM takes them: its `VideoMediaIO` splits at the commas."""
        by_key = {frame.key: frame for frame in frames}
        encoded = {key: self._encode(by_key[key], "jpeg") for key in by_key}
        data = ",".join(encoded[frame.key] for frame in frames)
        url = f"data:video/jpeg;base64,{data}"
        return {"type": "video_url", "video_url": {"url": url}}

    def _encode(self, frame: Frame, encoding: Literal["png", "jpeg"]) -> str:
        stream = BytesIO()
        self.resize(frame).save(stream, encoding, quality=JPEG_QUALITY)
        return b64encode(stream.getvalue()).decode()

    def pixel_digest(self, frame: Frame) -> str:
        """What tells frames apart for a server: pixels after resizing."""
        # The frame's own key would not do: equal pixels may have different keys, and cost twice.
        pixels = np.asarray(self.resize(frame))
        # earlier versions could send JPEG too: what was paid then is found by the same key
        return digest(pixels, ("png", None, self.detail))


@dataclass(frozen=True)
class ChatRequest:
    """Text and frames for a model; `parameters` are the other fields of the request.

    `scoring` are the fields that ask for log-probabilities; a server may refuse these. `repeat`
    numbers the times that the same is asked, so that each is paid for once. `frames_last` puts the
    text first, and `as_video` shows several frames as one video.
    """

    text: str
    parameters: Mapping[str, Any]
    system: str = ""
    frames: Sequence[Frame] = ()
    image_format: ImageFormat = field(default_factory=ImageFormat)
    scoring: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    frames_last: bool = False
    as_video: bool = False

    def key(self, url: str) -> str:
        """Digest of all that enters the answer; frames are loaded for it, and not kept."""
        content = (self.text, self.system, dict(self.parameters), dict(self.scoring))
        frames = list(self._of_frames(self.image_format.pixel_digest))
        # nothing the first time: its key is the same whether repeats follow or not
        again = [self.repeat] if self.repeat else []
        layout = [name for name in ("frames_last", "as_video") if getattr(self, name)]
        return digest("question", url, content, frames, *again, *layout)

    def content(self, *, scored: bool) -> bytes:
        """The request as JSON; raises UserError for one too large."""
        parts: list[dict[str, Any]] = []
        size = 0
        for part in self._frame_parts():
            parts.append(part)
            size += len(part[part["type"]]["url"])
            if size > MAX_REQUEST:
                raise UserError(
                    "openai: the frames of a sample are too large to be sent",
                    expected=f"at most {MAX_REQUEST:,} bytes",
                    remedy="-O model.max_side=1024 makes them smaller",
                )
        content: str | list[dict[str, Any]] = self.text
        if parts:
            words = {"type": "text", "text": self.text}
            content = [words, *parts] if self.frames_last else [*parts, words]
        messages = [{"role": "user", "content": content}]
        if self.system:
            messages.insert(0, {"role": "system", "content": self.system})
        body = {**self.parameters, "messages": messages}
        if scored:
            body.update(self.scoring)
        # NaN is not JSON, and Python would write it
        return json.dumps(body, allow_nan=False).encode()

    def _frame_parts(self) -> Iterator[dict[str, Any]]:
        if self.as_video:
            yield self.image_format.video_part(self.frames)
        else:
            yield from self._of_frames(self.image_format.message_part)

    def _of_frames(self, function: Callable[[Frame], T]) -> Iterator[T]:
        """The function's value for each frame, in order; a repeated frame is loaded once."""
        values: dict[str, T] = {}
        for frame in self.frames:
            if frame.key not in values:
                values[frame.key] = function(frame)
            yield values[frame.key]


# ---------------------------------------------------------------------------------------- samples


def chat_request(options: OpenAIOptions, sample: Sample, repeat: int) -> ChatRequest:
    """The request for a sample, the same whichever of the outputs is wanted.

    A seed among the options is another one in each `repeat`, or the server would draw the same.
    Raises UserError for a sample without a question, and for more choices than letters.
    """
    scoring: dict[str, Any] = {}
    if sample.choices and options.top_logprobs:
        scoring = {"logprobs": True, "top_logprobs": options.top_logprobs}
    fields = parameters(options)
    seed = fields.get("seed")
    if isinstance(seed, int):
        fields["seed"] = seed + repeat
    fields |= guiding_fields(options, sample.choices)
    return ChatRequest(
        text=user_text(options, sample),
        parameters=fields,
        system=options.system,
        frames=sample.frames,
        image_format=ImageFormat(options.max_side, options.detail),
        scoring=scoring,
        repeat=repeat,
        frames_last=options.frames == "last",
        as_video=options.video is not None and len(sample.frames) > 1,
    )


def guiding_fields(
    options: OpenAIOptions,
    choices: Sequence[str],
) -> dict[str, Any]:
    """The fields of a request by which a server allows no answer but one of the choices."""
    if options.guided is None or not choices:
        return {}
    answers = list(choices)
    if asks_by_letter(options, choices):
        answers = sorted(choice_letters(choices, options.order))
    if options.guided == "vllm":
        return {"structured_outputs": {"choice": answers}}
    # `re.escape` escapes spaces too, which not every engine's expressions allow
    escaped = [_SPECIAL.sub(r"\\\g<0>", answer) for answer in answers]
    return {"regex": f"({'|'.join(escaped)})"}


def user_text(options: OpenAIOptions, sample: Sample) -> str:
    """The question in its prompt, with the choices listed where they are answered by letter."""
    question = sample.question or options.question
    if not question:
        raise UserError(
            f"openai: sample '{sample.key}' has no question",
            expected="a data set with questions",
            remedy="-O model.question='What is shown?' asks this of every sample without one",
        )
    text = options.prompt.replace("{question}", question).strip()
    if not asks_by_letter(options, sample.choices):
        return text
    if len(sample.choices) > len(ascii_uppercase):
        raise UserError(
            f"openai: sample '{sample.key}' has more choices than letters",
            expected=f"at most {len(ascii_uppercase)}",
            got=f"{len(sample.choices)}",
            remedy="-O model.scoring=words asks without listing them",
        )
    letters = choice_letters(sample.choices, options.order)
    lines = [text]
    for letter, choice in sorted(zip(letters, sample.choices, strict=True)):
        lines.append(f"({letter}) {choice}")
    lines.append("Answer with the letter.")
    return "\n".join(lines)
