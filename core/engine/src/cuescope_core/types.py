"""The words of a question: what is shown to a model and what it answers. Frozen, free of torch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from PIL import Image
from pydantic import BaseModel, ConfigDict, WrapValidator, model_validator
from pydantic.dataclasses import dataclass as checked_dataclass

from cuescope_core.digest import digest
from cuescope_core.errors import BadDataError, PluginError

Output = Literal["logits", "text", "embedding"]
NUMERIC = "biuf"  # kinds of dtypes: truth values, whole numbers, floating ones
T = TypeVar("T")


# a misspelt option would otherwise be dropped without a word
STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Value(BaseModel):
    """Base of every word: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, **STRICT)

    def model_copy(
        self,
        *,
        update: Mapping[str, Any] | None = None,
        deep: bool = False,
    ) -> Self:
        """A copy with some fields changed, checked as a new one is; pydantic's own is not."""
        copied = super().model_copy(deep=deep) if deep or not update else self
        if not update:
            return copied
        # what nobody has set stays a default
        given = {name: getattr(copied, name) for name in copied.model_fields_set}
        return type(self)(**{**given, **update})


class Options(Value):
    """Options of a plugin: subclass it, one typed field with a default and description each.

    `argument` names the field that takes ARG of `NAME:ARG` on the command line.
    """

    # a default of another type would pass in silence
    model_config = ConfigDict(validate_default=True)

    argument: ClassVar[str | None] = None


# ------------------------------------------------------------------------------- what is shown


@dataclass(frozen=True, slots=True)
class FrameSource:
    """Where a frame was read: frame `index` of a file.

    A data set takes `count` frames of the file together; this one is number `position` of them.
    They are of all of the file, or of a `segment`: (start, end, length of the file) in seconds, or
    () where nobody knows of which.
    """

    path: Path
    index: int = 0
    position: int = 0
    count: int = 1
    segment: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One image, loaded when asked for.

    `key` is a content digest: equal keys mean equal pixels. `loader` takes nothing and returns
    the RGB image; it must be picklable, so use a module-level function with `functools.partial`.
    `source` says where the pixels were read, None for pixels that were drawn or changed.
    """

    key: str
    loader: Callable[[], Image.Image]
    # equal pixels are equal frames, wherever they were read
    source: FrameSource | None = field(default=None, compare=False)

    def load(self) -> Image.Image:
        """The image, mode RGB, (width, height) in pixels, origin top left."""
        return self.loader()

    @classmethod
    def from_array(cls, pixels: np.ndarray) -> Self:
        """From uint8 pixels of shape (row, col, 3)."""
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
            raise ValueError(
                f"expected uint8 pixels of shape (row, col, 3), "
                f"got {pixels.dtype} of shape {pixels.shape}"
            )
        # a lambda could not be sent to workers
        return cls(digest(pixels), partial(Image.fromarray, pixels))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """From an image file; the key is the digest of its bytes, which are checked when loaded."""
        path = Path(path)
        # of the bytes: a folder is listed without decoding an image
        key = digest(path.read_bytes())
        return cls(key, partial(_open_rgb, path, key), FrameSource(path))

    def derive(
        self,
        operation: str,
        function: Callable[[Image.Image], Image.Image],
    ) -> "Frame":
        """The frame after `function`; `operation` names it with all its parameters."""
        # of names, not of pixels: no image is loaded to tell frames apart
        return Frame(
            digest(self.key, operation), partial(_load_and_apply, self, function)
        )


def _open_rgb(path: Path, key: str) -> Image.Image:
    """As a person sees it.

    Raises BadDataError where the file is gone, or has other bytes than those of `key`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadDataError(
            f"{path} can no longer be read", got=error.strerror
        ) from error
    if digest(content) != key:
        raise BadDataError(
            f"{path} has changed since it was listed",
            expected="the file as it was listed",
            got="other content",
            remedy="Answers to it are not kept: run the same command again",
        )
    from cuescope_core.pixels import to_rgb

    # no file stays open, whatever Pillow does late
    with Image.open(BytesIO(content)) as image:
        try:
            return to_rgb(image)
        except ValueError as error:
            raise BadDataError(f"{path} cannot be shown", got=str(error)) from error


def _load_and_apply(
    frame: Frame, function: Callable[[Image.Image], Image.Image]
) -> Image.Image:
    return function(frame.load().copy())  # the parent may be kept by whoever loaded it


_CHECKED: dict[int, tuple[object, tuple[str, ...]]] = {}  # by id of what is kept beside


def _check_once(given: Any, check: Callable[[Any], tuple[str, ...]]) -> tuple[str, ...]:
    """Choices that many samples share are checked once, and stay one object."""
    known = _CHECKED.get(id(given))
    if known is not None and known[0] is given:
        return known[1]
    choices = check(given)
    if type(given) is tuple:
        if len(_CHECKED) >= 256:  # choices of each sample its own
            _CHECKED.clear()
        _CHECKED[id(given)] = given, choices
        # the checked tuple too: `replace` of a sample hands it in again
        _CHECKED[id(choices)] = choices, choices
    return choices


# A data set has hundreds of thousands of samples, and an audit several trials of each: a model of
# pydantic's would take five times their memory.
@checked_dataclass(config=STRICT, frozen=True, slots=True, kw_only=True)
class Sample:
    """One example of a data set; `dataclasses.replace` gives another one.

    `key` is unique in the data set, and does not continue another key after a "/", which is how
    derived samples are named. `frames` () is a question without a video, for models that take it.
    `group` names what was drawn independently: samples of one source video, patient, scene or
    original image share it. None in all samples means that nobody knows.
    `choices` is the closed label or answer set, `label` the right choice. `annotations` may hold
    anything else known of the sample; the key "cues" is the answer sheet of planted or annotated
    cues (`{cue name: (present in frame 0, ...)}`) and is hidden from a method until `verify`.
    """

    key: str
    frames: tuple[Frame, ...]
    question: str | None = None
    choices: Annotated[tuple[str, ...], WrapValidator(_check_once)] = ()
    label: str | None = None
    group: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    @model_validator(mode="after")
    def _label_is_a_choice(self) -> Self:
        if self.label is not None and self.choices and self.label not in self.choices:
            raise ValueError(f"label {self.label!r} is none of the choices")
        return self

    def with_frames(self, frames: tuple[Frame, ...], suffix: str) -> "Sample":
        """The same example with other frames; `suffix` tells its key from the original's."""
        return replace(self, frames=frames, key=f"{self.key}/{suffix}")

    def with_question(self, question: str, suffix: str) -> "Sample":
        """The same example with another question; `suffix` as in `with_frames`."""
        return replace(self, question=question, key=f"{self.key}/{suffix}")

    def with_choices(self, choices: Sequence[str], suffix: str) -> "Sample":
        """The same example with other choices; without a label that is none of them."""
        label = self.label if self.label in choices else None
        key = f"{self.key}/{suffix}"
        return replace(self, choices=tuple(choices), label=label, key=key)

    def static(self, frame: int) -> "Sample":
        """The still clip: one frame repeated to the sequence's own length (TRoVe, section 3.2)."""
        return self.with_frames(
            (self.frames[frame],) * len(self.frames), f"static-{frame}"
        )


class PlantedCue(Value):
    """A cue that is known to be in a data set: "table", which gives "cup" away.

    `key` is its key in the "cues" annotation of samples, `name` what it is called, `labels` are
    those that it gives away, () where it is not about one.
    """

    key: str
    name: str
    labels: tuple[str, ...] = ()


# ------------------------------------------------------------------ what is changed in the model


class Edit(Value):
    """A change inside the model while it answers. Any package may define one.

    Subclass it at module level, with a typed field for each parameter. `kind` is a unique name:
    models declare in `Capabilities.edits` which kinds they answer. Kind and fields are part of
    the cache key; take another kind as soon as the same fields change the model differently.
    """

    # a base class: the three edits of the core were a closed set (docs/adr/0013)
    kind: ClassVar[str]


class HideTokens(Edit):
    """The visual tokens under a mask are absent from every layer.

    The mask of a frame has the frame's own pixels, or the rows and columns of the model's grid (of
    `patch_features`), which lies over what the network sees of the frame. The sdk's
    `models.tokens_under` makes the second of the first.
    """

    kind: ClassVar[str] = "hide-tokens"
    shape: tuple[int, int, int]
    bits: bytes  # packed: an eighth, for masks are digested and pickled

    @classmethod
    def from_mask(cls, mask: np.ndarray) -> Self:
        """From a boolean mask (frame, row, col); True is hidden."""
        if mask.dtype != bool or mask.ndim != 3:
            raise ValueError(
                f"expected a bool mask (frame, row, col), got {mask.dtype} of shape {mask.shape}"
            )
        frames, rows, cols = mask.shape
        return cls(shape=(frames, rows, cols), bits=np.packbits(mask).tobytes())

    @property
    def mask(self) -> np.ndarray:
        """The boolean mask (frame, row, col)."""
        # `count`: the last byte was filled up
        flat = np.unpackbits(
            np.frombuffer(self.bits, np.uint8), count=int(np.prod(self.shape))
        )
        return flat.reshape(self.shape).astype(bool)


class Readout(Value):
    """Numbers read inside the model while it answers. An edit changes the model, a readout looks.

    Subclass it at module level, with a typed field for each parameter. `name` is unique, and
    another one as soon as the code gives other numbers: name and fields are the cache key.
    `of_embedding` True: it reads what belongs to the embedding, as the text tower beside it.
    `gives` is what `read` gives for a trial, such as jaxtyping's `Float32[np.ndarray, "row col"]`.
    """

    # small numbers are cached: patch embeddings would take 600 kB an image (docs/adr/0009)
    name: ClassVar[str]
    # where another eye embeds the frames, it is asked
    of_embedding: ClassVar[bool] = False
    gives: ClassVar[Any] = np.ndarray

    def read(self, model: Any, trials: Sequence["Trial"]) -> list[np.ndarray]:
        """One array of finite numbers a trial, of any shape; samples and edits alone decide."""
        raise NotImplementedError

    def accepts(self, array: np.ndarray, trial: "Trial") -> bool:
        """True if `read` could give this array, of finite numbers, for a trial.

        A stranger's cache holds any dtype, shape and range under a key that fits: what is not
        accepted is asked again.
        """
        return isinstance(array, self.gives)

    def of(self, sample: Sample, edit: Edit | None = None) -> "Trial":
        """The trial that asks for this readout, and for no other output."""
        return Trial(sample=sample, edit=edit, readout=self, outputs=frozenset())


@checked_dataclass(config=STRICT, frozen=True, slots=True, kw_only=True)
class Trial:
    """Show `sample`, perhaps with `edit` inside the model, and ask for `outputs` or a `readout`.

    `feature` and `condition` say what the trial is for; they never reach the cache key, and a
    model must not read them, nor the sample's label and annotations. `repeat` numbers the times
    that the same is asked of a model whose answers are drawn by chance.
    """

    sample: Sample
    edit: Edit | None = None
    readout: Readout | None = None
    # not in the key: another method's audit finds the same answers (docs/adr/0003)
    feature: str | None = None
    condition: str = "baseline"
    repeat: int = 0
    outputs: frozenset[Output] = frozenset({"logits"})


# eq=False: arrays compare element by element, so `==` of responses would raise
@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """Answer of the model: float32 `logits` (choice), `text`, float32 `embedding` (dim).

    `readout` is what a `Readout` returned, of any shape and numeric dtype. The engine refuses
    numbers that are not finite, and names model and sample.
    """

    logits: np.ndarray | None = None
    text: str | None = None
    embedding: np.ndarray | None = None
    readout: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("logits", "embedding"):
            value = getattr(self, name)
            if value is None:
                continue
            # whatever the model's dtype: statistics need float32 at least
            vector = np.asarray(value, dtype=np.float32)
            if vector.ndim != 1:
                raise ValueError(
                    f"{name}: expected one vector, got shape {vector.shape}"
                )
            # frozen, and this is its own constructor
            object.__setattr__(self, name, vector)

    @property
    def prediction(self) -> int | None:
        """Index of the choice with the highest logit; the first of equals."""
        return None if self.logits is None else int(self.logits.argmax())

    def missing(self, wanted: frozenset[Output]) -> list[Output]:
        """The wanted outputs that are not here."""
        return sorted(output for output in wanted if getattr(self, output) is None)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A trial with its response."""

    trial: Trial
    response: Response

    @property
    def logits(self) -> np.ndarray:
        """Those of the response, float32 (choice); raises PluginError where none were given."""
        return self._output_of(self.response.logits, "logits")

    @property
    def embedding(self) -> np.ndarray:
        """That of the response, float32 (dim); raises PluginError where none was given."""
        return self._output_of(self.response.embedding, "embedding")

    @property
    def text(self) -> str:
        """That of the response; raises PluginError where none was given."""
        return self._output_of(self.response.text, "text")

    def _output_of(self, answer: T | None, output: Output) -> T:
        if answer is None:
            raise PluginError(
                f"the answer to {self.trial.sample.key}",
                expected=output,
                got="none",
                remedy=f"Ask for it: Trial(sample=..., outputs=frozenset({{'{output}'}}))",
            )
        return answer

    @property
    def prediction(self) -> str | None:
        """The predicted choice, or the text where the model chose none."""
        index = self.response.prediction
        return self.response.text if index is None else self.trial.sample.choices[index]

    def correct(self, top_k: int = 1) -> bool:
        """True if the label is among the `top_k` choices with the highest logits.

        A text without choices is compared up to case, articles and outer marks.
        """
        sample = self.trial.sample
        logits = self.response.logits
        if logits is None:
            from cuescope_core.answer_words import normalise_answer

            return sample.label is not None and normalise_answer(
                self.response.text or ""
            ) == normalise_answer(sample.label)
        # the first of equals, as `prediction`
        best = np.argsort(-logits, kind="stable")[:top_k]
        return any(sample.choices[index] == sample.label for index in best)
