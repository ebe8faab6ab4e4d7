"""Functions of the caller as models: images to probabilities, images and a question to words."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from typing import Any, Literal, Self, TypeVar
from uuid import uuid4

import numpy as np
from PIL import Image

from cuescope.python.texts import require_text
from cuescope_core.amounts import count_of
from cuescope_core.capabilities import Capabilities
from cuescope_core.digest import digest
from cuescope_core.errors import UserError, nearest, with_article
from cuescope_core.respond import out_of_memory
from cuescope_core.spec import name_of
from cuescope_core.types import Frame, Options, Response, Sample, Trial

T = TypeVar("T")
Pictures = list[Image.Image]
SUM_TOLERANCE = 0.01  # rows of float16 probabilities over a thousand labels
LEAST = 1e-30  # the log of a probability of 0 is no number
TINY = 1e-12  # the least length that is divided by
SIDE = 8  # of the small pictures that stand in for an embedding
TOLD_LABELS = 12  # in facts and errors


class OfFunction:
    """A model that is a function: a name, a fingerprint, a clean failure.

    `name` says which model it is: answers are kept under it, so give another one with other
    weights. Without a name nothing is kept, for nothing tells two functions apart.
    """

    Options = Options
    capabilities: Capabilities

    def __init__(self, function: Callable[..., Any], name: str | None) -> None:
        if not callable(function):
            raise UserError(
                f"{type(self).__name__} of a {type(function).__name__}",
                expected="a function",
            )
        if name is not None:
            require_text("name", name)
        self.function = function
        # a partial has no name of its own
        self.title = name or str(getattr(function, "__name__", type(function).__name__))
        self.private = name is None
        self._identity = uuid4().hex if name is None else name
        self.facts: Mapping[str, str] = {
            "answers": "a function of the caller, in memory"
        }

    @property
    def name(self) -> str:
        """Its name in reports."""
        return name_of(self.title)

    @property
    def fingerprint(self) -> str:
        """Digest of the name that the caller gave, or of a random one."""
        return digest(type(self).__name__, self._identity)

    def with_name(self, name: str) -> Self:
        """The same function under a name, so that its answers may be kept."""
        # a copy: the caller's own object is not changed (docs/adr/0015)
        named = copy(self)
        named.title = name
        named.private = False
        named._identity = name
        return named

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            # `respond` asks the batch in parts
            if out_of_memory(error) or isinstance(error, UserError):
                raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise UserError(
                f"the function '{self.title}' failed", got=reason
            ) from error

    def _refuse_inside(self, trials: Sequence[Trial]) -> None:
        for trial in trials:
            if trial.edit is not None or trial.readout is not None:
                raise UserError(
                    f"'{self.title}' is a function: nothing inside it can be changed or read",
                    remedy="Pass the model itself, with its processor",
                )


class Classifier(OfFunction):
    """A function from a list of PIL images to an array (image, label) of probabilities.

    `labels` names the columns; without it they are the labels of the data, in that order. With
    `outputs="logits"` rows need not sum to 1. With `takes="clips"` the function is given a list
    of lists, the frames of each sample; else a sample is the mean of its frames. `embed`, which
    TRoVe needs, is a function from images to vectors (image, dim), or "pixels": small pictures
    of the images stand in for it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        labels: Sequence[str] | None = None,
        embed: Callable[[Pictures], Any] | Literal["pixels"] | None = None,
        outputs: Literal["probabilities", "logits"] = "probabilities",
        takes: Literal["images", "clips"] = "images",
        batch_size: int = 64,
    ) -> None:
        super().__init__(function, name)
        _require_word("outputs", outputs, ("probabilities", "logits"))
        _require_word("takes", takes, ("images", "clips"))
        if not (embed is None or embed == "pixels" or callable(embed)):
            raise UserError(
                "Classifier: embed",
                expected="a function or 'pixels'",
                got=repr(embed),
            )
        self.labels = None if labels is None else _names_of(labels)
        self.embed = embed
        self._embedding_width: int | None = None  # of the first batch
        self.outputs = outputs
        self.takes = takes
        self.batch_size = batch_size
        answers = {"logits"} if embed is None else {"logits", "embedding"}
        self.capabilities = Capabilities(outputs=frozenset(answers))
        columns = "as the data's labels"
        if self.labels is not None:
            more = " ..." if len(self.labels) > TOLD_LABELS else ""
            columns = ", ".join(self.labels[:TOLD_LABELS]) + more
        self.facts = {
            **self.facts,
            "columns": columns,
            "sequence": "all frames together"
            if takes == "clips"
            else "mean of the frames",
        }

    @property
    def fingerprint(self) -> str:
        """Digest of its name and of how its answers are read."""
        # a function has no content to digest: that there is one is all that is known
        embed = self.embed if isinstance(self.embed, str) else self.embed is not None
        return digest(super().fingerprint, self.labels, embed, self.outputs, self.takes)

    def for_audit(self, labels: Sequence[str], batch_size: int) -> Self:
        """The same function for data of these labels; raises UserError for labels it has not."""
        columns = tuple(labels) if self.labels is None else self.labels
        for label in labels:
            if label not in columns:
                raise UserError(
                    f"'{self.title}' has no column for the label '{label}'",
                    expected=", ".join(columns),
                    remedy="Name the columns as the data names its labels"
                    + _where_numbers_are_named(labels),
                )
        # the caller may audit the same object on other data next
        bound = copy(self)
        bound.labels = columns
        bound.batch_size = batch_size
        return bound

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits and embeddings, as each trial asks."""
        self._refuse_inside(trials)
        samples = [trial.sample for trial in trials]
        outputs = frozenset[str]().union(*(trial.outputs for trial in trials))
        logits = self._logits(samples) if "logits" in outputs else []
        embeddings = self._embeddings(samples) if "embedding" in outputs else []
        responses = []
        for row, trial in enumerate(trials):
            wants_logits = "logits" in trial.outputs
            wants_embedding = "embedding" in trial.outputs
            response = Response(
                logits=logits[row] if wants_logits else None,
                embedding=embeddings[row] if wants_embedding else None,
            )
            responses.append(response)
        return responses

    def _logits(self, samples: Sequence[Sample]) -> list[np.ndarray]:
        """Logits over the choices of each sample; of probabilities, their logarithm."""
        if self.takes == "clips":
            clips = [_load(sample.frames) for sample in samples]
            rows = np.concatenate([self._rows(batch) for batch in self._batches(clips)])
        else:
            by_frame = self._by_frame(samples, self._rows)
            rows = np.stack([_mean(by_frame, sample) for sample in samples])
        # after the mean: one frame with a probability of 0 would else decide a clip
        if self.outputs == "probabilities":
            rows = np.log(np.maximum(rows, LEAST))
        logits = []
        for row, sample in zip(rows, samples, strict=True):
            logits.append(row[self._columns(sample)].astype(np.float32))
        return logits

    def _columns(self, sample: Sample) -> list[int]:
        """The column of each choice."""
        labels = self.labels or sample.choices
        for choice in sample.choices:
            if choice not in labels:
                raise UserError(
                    f"'{self.title}' was asked to choose '{choice}'",
                    expected=f"one of its labels: {', '.join(labels[:TOLD_LABELS])}",
                    got=sample.question,
                    remedy="A classifier answers no questions: cuescope.TextModel takes a function "
                    "from images and a question to words",
                )
        return [labels.index(choice) for choice in sample.choices]

    def _embeddings(self, samples: Sequence[Sample]) -> list[np.ndarray]:
        """The unit mean of the frames' vectors, each of unit length."""
        by_frame = self._by_frame(samples, self._embed_frames)
        embeddings = []
        for sample in samples:
            mean = _mean(by_frame, sample)
            length = max(np.linalg.norm(mean), TINY)
            embeddings.append((mean / length).astype(np.float32))
        return embeddings

    def _embed_frames(self, images: Pictures) -> np.ndarray:
        if not callable(self.embed):  # "pixels"
            return _unit(np.stack([_small(image) for image in images]))
        rows = _array(self._call(self.embed, images), self.title)
        if rows.ndim != 2 or len(rows) != len(images) or not np.isfinite(rows).all():
            raise UserError(
                f"embed of '{self.title}'",
                expected=f"finite numbers of shape ({len(images)}, dim) for "
                f"{count_of(len(images), 'images')}",
                got=_describe(rows),
            )
        if self._embedding_width is None:
            self._embedding_width = rows.shape[1]
        if rows.shape[1] != self._embedding_width:
            raise UserError(
                f"embed of '{self.title}'",
                expected=f"vectors of {self._embedding_width} numbers, as it gave before",
                got=f"vectors of {rows.shape[1]}",
            )
        # unit length: each frame counts alike in the mean of a clip
        return _unit(rows)

    def _rows(self, shown: Sequence[Any]) -> np.ndarray:
        """Answers of the function for images or clips, checked."""
        labels = self.labels or ()
        said = self._call(self.function, list(shown))
        rows = _array(_in_order(said, labels, self.title), self.title)
        shape = (len(shown), len(labels))
        if rows.shape != shape:
            raise UserError(
                f"the function '{self.title}'",
                expected=f"an array of shape {shape} for {len(shown)} {self.takes} and "
                f"{count_of(len(labels), 'labels')} ({', '.join(labels[:TOLD_LABELS])})",
                got=f"shape {rows.shape}",
                remedy="`labels=` names the columns where they are not the data's labels",
            )
        if not np.isfinite(rows).all():
            raise UserError(
                f"the function '{self.title}'",
                expected="finite numbers",
                got=_describe(rows),
                remedy="Look at what it says of these images: they are the batch it was given",
            )
        # logits that are called probabilities would give wrong answers without an error
        if self.outputs == "probabilities":
            sums = rows.sum(axis=1)
            worst = int(np.abs(sums - 1).argmax())
            if rows.min() < 0 or abs(sums[worst] - 1) > SUM_TOLERANCE:
                raise UserError(
                    f"the function '{self.title}'",
                    expected="probabilities: from 0 to 1, the sum of each row 1",
                    got=f"a row with the sum {sums[worst]:.3g}, the least value {rows.min():.3g}",
                    remedy="For logits: cuescope.Classifier(function, outputs='logits')",
                )
        return rows

    def _by_frame(
        self,
        samples: Sequence[Sample],
        answer: Callable[[Pictures], np.ndarray],
    ) -> dict[str, np.ndarray]:
        """The answer to each distinct frame, by its key."""
        frames: dict[str, Frame] = {}
        for sample in samples:
            # a still clip repeats one frame, which is answered once
            frames |= {frame.key: frame for frame in sample.frames}
        rows: list[np.ndarray] = []
        for batch in self._batches(list(frames.values())):
            rows += list(answer(_load(batch)))
        return dict(zip(frames, rows, strict=True))

    def _batches(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        for start in range(0, len(items), self.batch_size):
            yield items[start : start + self.batch_size]


class TextModel(OfFunction):
    """A function from a list of PIL images and a question (None where there is none) to words.

    Where a sample has choices, the question is followed by them: "Options: yes, no.".
    """

    capabilities = Capabilities(outputs=frozenset({"text"}), max_frames=None)

    def __init__(
        self,
        function: Callable[[Pictures, str | None], str],
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(function, name)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Answers of the function to trials."""
        self._refuse_inside(trials)
        # one by one: the function takes one question
        return [Response(text=self._text(trial.sample)) for trial in trials]

    def _text(self, sample: Sample) -> str:
        parts = [sample.question] if sample.question else []
        if sample.choices:
            parts.append(f"Options: {', '.join(sample.choices)}.")
        question = " ".join(parts) or None
        answer = self._call(self.function, _load(sample.frames), question)
        if not isinstance(answer, str):
            kind = type(answer).__name__
            raise UserError(
                f"the function '{self.title}'",
                expected="words, a str",
                got=kind,
            )
        return answer


def _load(frames: Sequence[Frame]) -> Pictures:
    return [frame.load() for frame in frames]


def _in_order(said: Any, labels: Sequence[str], title: str) -> Any:
    """A table with named columns (pandas, polars) in the order of the labels; all else as it is."""
    columns = getattr(said, "columns", None)
    if columns is None:
        return said
    names = list(map(str, columns))
    # columns that were never named are numbered
    if names == list(map(str, range(len(names)))):
        return said
    if sorted(names) != sorted(labels):
        raise UserError(
            f"the function '{title}'",
            expected=f"columns named {', '.join(labels[:TOLD_LABELS])}",
            got=", ".join(names[:TOLD_LABELS]),
            remedy="Name them as the data names its labels, or give an array",
        )
    return np.asarray(said)[:, [names.index(label) for label in labels]]


def _array(value: Any, title: str) -> np.ndarray:
    """Real numbers of a list, of numpy or of a tensor, wherever it lies."""
    # a tensor, perhaps with gradients, on a device, in bfloat16
    if hasattr(value, "detach"):
        value = value.detach().float().cpu()
    try:
        if np.iscomplexobj(value):
            raise TypeError("complex numbers")
        if value is None:
            raise TypeError("did it forget `return`?")
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(
            f"the function '{title}'",
            expected="an array of numbers",
            got=f"{with_article(type(value).__name__)} ({error})",
            remedy="It returns a row of numbers for each image; for words or dicts, put what it "
            "says of each label into the columns of such an array",
        ) from error


def _where_numbers_are_named(labels: Sequence[str]) -> str:
    if not all(label.isdecimal() for label in labels):
        return ""
    return ": cuescope.Images(images, labels, classes=[...]) names numbers"


def _mean(by_frame: Mapping[str, np.ndarray], sample: Sample) -> np.ndarray:
    rows = [by_frame[frame.key] for frame in sample.frames]
    return np.asarray(np.mean(rows, axis=0))


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, TINY))


def _small(image: Image.Image) -> np.ndarray:
    small = image.resize((SIDE, SIDE), Image.Resampling.BOX)
    # around zero: else any two pictures would be alike by cosine
    return np.asarray(small, np.float64).ravel() / 255 - 0.5


def _describe(rows: np.ndarray) -> str:
    bad = np.argwhere(~np.isfinite(rows))
    where = f", with NaN or infinity at {tuple(bad[0].tolist())}" if len(bad) else ""
    return f"shape {rows.shape}{where}"


def _names_of(labels: Sequence[str]) -> tuple[str, ...]:
    """The names of columns; raises UserError where two are alike, or they are one text."""
    if isinstance(labels, str):
        raise UserError(
            "Classifier: labels", expected="a list of names", got=repr(labels)
        )
    # a set is in another order in each process, and columns would change places
    if isinstance(labels, Set):
        raise UserError(
            "Classifier: labels",
            expected="a list of names, in the order of the columns",
            got=f"{with_article(type(labels).__name__)}, which has no order",
        )
    names = tuple(map(str, labels))
    # an answer is read from the first column of its name
    for name, count in Counter(names).items():
        if count > 1:
            raise UserError(
                "Classifier: labels",
                expected="a name of its own for each column",
                got=f"'{name}' {count_of(count, 'times')}",
            )
    return names


def _require_word(option: str, value: str, words: tuple[str, ...]) -> None:
    if value not in words:
        raise UserError(
            f"Classifier: {option}={value!r}",
            expected=" or ".join(map(repr, words)),
            remedy=nearest(str(value), words),
        )
