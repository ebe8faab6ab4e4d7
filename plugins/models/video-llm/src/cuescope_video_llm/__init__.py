"""Video-LLaMA, VideoChat and CLIP-ViL, from their authors' checkpoints."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from cuescope_sdk import (
    Capabilities,
    Context,
    LazyWeights,
    Options,
    Plugin,
    Response,
    Trial,
    UserError,
    digest,
)
from cuescope_sdk.models import refuse_unanswerable
from cuescope_video_llm.options import (
    ClipViLOptions,
    VideoChatOptions,
    VideoLLaMAOptions,
    VideoLLMOptions,
)

if TYPE_CHECKING:
    from cuescope_sdk.torch import Pretrained
    from cuescope_video_llm.clip_vil import ClipViLNetwork
    from cuescope_video_llm.network import Network

FINGERPRINT_VERSION = 1  # raise it when equal files and options give other answers
FILES = ("checkpoint", "vision", "qformer")


class VideoLLM(Plugin, LazyWeights):
    """Answers in words about a video: what was trained, between frozen parts of other models.

    Greedy, where the authors' demonstrations sample: an audit asks twice and gets the same. Sound
    is not heard. Files are found and digested as it is built, and opened for the first question.
    """

    options: VideoLLMOptions
    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text"}))
    owner: ClassVar[str]
    network_class: ClassVar[str]  # MODULE:CLASS, which imports torch
    facts: Mapping[str, str]

    def __init__(self, options: VideoLLMOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import files_digest
        from cuescope_video_llm.language import find_language_model

        self._files = _require_files(self.owner, options, FILES)
        self._llm: Pretrained
        self._llm, self._tokenizer = find_language_model(self.owner, options, context)
        self.fingerprint = digest(
            self.owner,
            FINGERPRINT_VERSION,
            files_digest(list(self._files.values())),
            self._llm.fingerprint(),
            options.model_dump(exclude={*FILES, "llm", "revision"}),
            context.dtype,
        )
        self.device = str(self._llm.device)
        names = [file.name for file in self._files.values()]
        self.facts = {
            "weights": ", ".join(names),
            "language model": self._llm.facts["weights"],
            "answers are": "greedy (the authors' demonstrations sample); sound is not heard",
        }

    @cached_property
    def network(self) -> "Network":
        """The open network; a plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.options.checkpoint.name}")
        network: Network = resolve_name(self.network_class).load(
            self.owner, self._files, self.options, self._llm, self._tokenizer
        )
        return network

    def open_weights(self) -> None:
        """Open the checkpoints now."""
        _ = self.network

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """The text after each question; raises UserError for more frames than it has places for."""
        for trial in trials:
            refuse_unanswerable(self.owner, self.capabilities, trial)
        return [Response(text=self.network.answer(trial.sample)) for trial in trials]


class VideoLLaMA(VideoLLM):
    """Video-LLaMA (Zhang et al., 2023): a second Q-Former reads the first one's view of frames."""

    Options = VideoLLaMAOptions
    options: VideoLLaMAOptions
    owner = "video-llama"
    network_class = "cuescope_video_llm.video_llama:VideoLLaMANetwork"


class VideoChat(VideoLLM):
    """VideoChat (Li et al., 2023): the image encoder sees across frames, 96 queries read it."""

    Options = VideoChatOptions
    options: VideoChatOptions
    owner = "video-chat"
    network_class = "cuescope_video_llm.video_chat:VideoChatNetwork"


class ClipViL(Plugin, LazyWeights):
    """CLIP-ViL (Shen et al., 2022) fine-tuned for VQA: an answer, and no reasoning before it.

    It sees pictures: of a video the logits are the mean over its frames.
    """

    Options = ClipViLOptions
    options: ClipViLOptions
    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"logits", "text"}))
    owner: ClassVar[str] = "clip-vil"

    def __init__(self, options: ClipViLOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import files_digest, resolve_device

        names = ("checkpoint", "answers")
        self._files = _require_files(self.owner, options, names)
        self.device = str(resolve_device(context.device))
        words = options.model_dump(exclude=set(names))
        files = files_digest(list(self._files.values()))
        self.fingerprint = digest(self.owner, FINGERPRINT_VERSION, files, words, context.dtype)
        self.facts = {
            "weights": self._files["checkpoint"].name,
            "answers are": "of its classes, the mean over frames; it writes no reasoning",
        }

    @cached_property
    def network(self) -> "ClipViLNetwork":
        """The open network; a plan ends here."""
        from cuescope_sdk.torch import resolve_dtype
        from cuescope_video_llm.clip_vil import ClipViLNetwork

        self.context.stop_plan_before(f"the weights of {self.options.checkpoint.name}")
        network = ClipViLNetwork.load(self.owner, self._files, self.options)
        return network.to(self.device, resolve_dtype(self.context.dtype))

    def open_weights(self) -> None:
        """Open the checkpoint now."""
        _ = self.network

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits of the choices, and the best answer; raises UserError for an unknown choice."""
        for trial in trials:
            refuse_unanswerable(self.owner, self.capabilities, trial)
        return [self._answer(trial) for trial in trials]

    def _answer(self, trial: Trial) -> Response:
        logits = self.network.logits(trial.sample)
        answers = self.network.answers
        choices = trial.sample.choices
        if not choices:
            return Response(text=answers[int(logits.argmax())])
        strangers = [choice for choice in choices if choice not in answers]
        if strangers:
            raise UserError(
                f"{self.owner}: sample '{trial.sample.key}' has the choice '{strangers[0]}'",
                expected=f"one of the {len(answers):,} answers that it knows",
                remedy="Ask it open questions, or take data with short answers.",
            )
        logits = logits[[answers.index(choice) for choice in choices]]
        return Response(logits=logits, text=choices[int(logits.argmax())])


def _require_files(owner: str, options: Options, names: Sequence[str]) -> dict[str, Path]:
    """The files that the options name; raises UserError for one that is not there."""
    return {name: _require_file(owner, name, getattr(options, name)) for name in names}


def _require_file(owner: str, name: str, path: Any) -> Path:
    file = Path(path).expanduser()
    if not file.is_file():
        expected = f"the authors' {name} file" if name == "checkpoint" else f"BLIP-2's {name}"
        raise UserError(
            f"{owner}: no file {path}",
            expected=expected,
            remedy="The README says where it is published.",
        )
    return file


__all__ = [
    "ClipViL",
    "ClipViLOptions",
    "VideoChat",
    "VideoChatOptions",
    "VideoLLaMA",
    "VideoLLaMAOptions",
]
