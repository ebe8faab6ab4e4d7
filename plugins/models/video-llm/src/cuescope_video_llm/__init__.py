"""Video-LLaMA, VideoChat and CLIP-ViL, from their authors' checkpoints."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar

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
from cuescope_sdk.report import count_of
from cuescope_video_llm.options import (
    ClipViLOptions,
    VideoChatOptions,
    VideoLLaMAOptions,
    VideoLLMOptions,
)

FINGERPRINT_VERSION = 1  # raise it when equal files and options give other answers
FILES = ("checkpoint", "vision", "qformer")


class AuthorsModel(Plugin, LazyWeights):
    """A model of the authors' files, which are opened for the first question."""

    options: VideoLLMOptions | ClipViLOptions
    answers_version = 1
    capabilities: ClassVar[Capabilities]
    owner: ClassVar[str]
    facts: Mapping[str, str]

    def open_weights(self) -> None:
        """Open the checkpoints now."""
        _ = self.network

    @cached_property
    def network(self) -> Any:
        """The open network; a plan ends here."""
        self.context.stop_plan_before(f"the weights of {self.options.checkpoint.name}")
        return self.load()

    @abstractmethod
    def load(self) -> Any:
        """Open the files."""

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for what is not declared, and for logits over no choices."""
        refuse_unanswerable(self.owner, self.capabilities, trials)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """An answer a trial; raises UserError for what cannot be answered."""
        self.require_answerable(trials)
        return list(map(self.answer, trials))

    @abstractmethod
    def answer(self, trial: Trial) -> Response:
        """What the network says."""


class VideoLLM(AuthorsModel):
    """Answers in words about a video: what was trained, between frozen parts of other models.

    Greedy, where the authors' demonstrations sample: an audit asks twice and gets the same. Sound
    is not heard. Files are found and digested as it is built, and opened for the first question.
    """

    options: VideoLLMOptions
    capabilities = Capabilities(outputs=frozenset({"text"}))
    network_class: ClassVar[str]  # MODULE:CLASS, which imports torch

    def __init__(self, options: VideoLLMOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import Pretrained, causal_builder, files_digest

        self._files = _require_files(self.owner, options, FILES)
        self._llm = Pretrained.find(
            self.owner, options.llm, options.revision, context, causal_builder
        )
        self._tokenizer = self._llm.tokenizer()
        self.fingerprint = digest(
            self.owner,
            FINGERPRINT_VERSION,
            files_digest(list(self._files.values())),
            self._llm.fingerprint(),
            # files count by content, the language model by its own digest
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

    def load(self) -> Any:
        network_class = resolve_name(self.network_class)
        return network_class.load(
            self.owner, self._files, self.options, self._llm, self._tokenizer
        )

    def answer(self, trial: Trial) -> Response:
        """The text after the question; raises UserError for more frames than it has places for."""
        return Response(text=self.network.answer(trial.sample))


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


class ClipViL(AuthorsModel):
    """CLIP-ViL (Shen et al., 2022) fine-tuned for VQA: an answer, and no reasoning before it.

    It sees pictures: of a video the logits are the mean over its frames.
    """

    Options = ClipViLOptions
    options: ClipViLOptions
    capabilities = Capabilities(outputs=frozenset({"logits", "text"}))
    owner = "clip-vil"

    def __init__(self, options: ClipViLOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import files_digest, resolve_device

        names = ("checkpoint", "answers")
        self._files = _require_files(self.owner, options, names)
        # now: a wrong device is said before the checkpoint is read
        self.device = str(resolve_device(context.device))
        words = options.model_dump(exclude=set(names))
        files = files_digest(list(self._files.values()))
        self.fingerprint = digest(
            self.owner, FINGERPRINT_VERSION, files, words, context.dtype
        )
        self.facts = {
            "weights": self._files["checkpoint"].name,
            "answers are": "of its classes, the mean over frames; it writes no reasoning",
        }

    def load(self) -> Any:
        from cuescope_sdk.torch import resolve_dtype
        from cuescope_video_llm.clip_vil import ClipViLNetwork

        network = ClipViLNetwork.load(self.owner, self._files, self.options)
        return network.to(self.device, resolve_dtype(self.context.dtype))

    def answer(self, trial: Trial) -> Response:
        """Logits of the choices, and the best answer; raises UserError for an unknown choice."""
        logits = self.network.logits(trial.sample)
        answers = self.network.answers
        choices = trial.sample.choices
        if not choices:
            return Response(text=answers[int(logits.argmax())])
        strangers = [choice for choice in choices if choice not in answers]
        if strangers:
            raise UserError(
                f"{self.owner}: sample '{trial.sample.key}' has the choice '{strangers[0]}'",
                expected=f"one of the {count_of(len(answers), 'answers')} that it knows",
                remedy="Ask it open questions, or take data with short answers.",
            )
        logits = logits[[answers.index(choice) for choice in choices]]
        return Response(logits=logits, text=choices[int(logits.argmax())])


def _require_files(
    owner: str,
    options: Options,
    names: Sequence[str],
) -> dict[str, Path]:
    """The files that the options name; raises UserError for one that is not there."""
    files = {}
    for name in names:
        path: Path = getattr(options, name)
        files[name] = path.expanduser()
        if not files[name].is_file():
            publisher = "BLIP-2's" if name in ("vision", "qformer") else "the authors'"
            raise UserError(
                f"{owner}: no file {path}",
                expected=f"{publisher} {name} file",
                remedy="The README says where it is published.",
            )
    return files


__all__ = [
    "ClipViL",
    "ClipViLOptions",
    "VideoChat",
    "VideoChatOptions",
    "VideoLLaMA",
    "VideoLLaMAOptions",
]
