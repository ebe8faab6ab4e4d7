"""Cues that a data set itself knows: its rankings, factors, answer sheet and supercategories.

One tool for two roles, `--tool proposer=known --tool detector=known`: it names the cues of a class,
and says how strongly each image shows one. Nothing looks at the pixels.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import filterfalse, product
from typing import Any

from cuescope_proposers.samples import classes_of
from cuescope_sdk import (
    Context,
    Dataset,
    Detection,
    Frame,
    Options,
    Plugin,
    Sample,
    UserError,
    digest,
)

OWNER = "known"
EXPECTED = (
    "'spuriosity', 'spurious_class', 'cues', 'factors' or 'supercategories' annotated"
)
Strengths = dict[str, float]  # by cue, from 0 (absent) to 1


class KnownCues(Plugin):
    """Names the cues of the data set's own annotations, and ranks images by them.

    `curated` says that the names are no guesses: they are not filtered as proposals are. Of
    `factors` each value is a cue, where the data set has no answer sheet; of `supercategories`
    anything of the class's kind that is not the class.
    """

    curated = True

    def __init__(self, options: Options, context: Context) -> None:
        super().__init__(options, context)
        if context.dataset is None:
            raise UserError(
                f"{OWNER} reads what a data set annotates, and there is no data set here"
            )
        self._data: Dataset = context.dataset
        self._shown: dict[
            str, list[tuple[Sample, int]]
        ] = {}  # by frame: the samples, their index
        self._cues: dict[str, dict[str, None]] = {}  # by class, in order of appearance
        self.fingerprint = digest(OWNER, 1, self._data.fingerprint)

    @property
    def facts(self) -> Mapping[str, str]:
        return {"cues are known by": "the data set"}

    def propose(self, label: str) -> list[str]:
        """The cues of a class; raises UserError where the data set knows none of any class."""
        self._read()
        return list(self._cues.get(label, ()))

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """Each cue that a frame shows, its strength for a score; the box is the whole frame.

        A class is found where it is annotated by a box. Raises UserError for other frames.
        """
        self._read()
        return [tuple(self._find(frame, frozenset(names))) for frame in frames]

    def _find(self, frame: Frame, names: frozenset[str]) -> Iterator[Detection]:
        if frame.key not in self._shown:
            raise UserError(
                f"{OWNER}: asked about an image that is not of the data set",
                expected="frames of the audited samples, unchanged",
            )
        strongest: Strengths = {}
        for sample, number in self._shown[frame.key]:
            for name, strength in self._strengths(sample, number).items():
                # samples that show one frame may be annotated differently
                strongest[name] = max(strength, strongest.get(name, 0.0))
            for box in sample.annotations.get("boxes", ()):
                if box.name in names:
                    yield box
        shown = [
            name
            for name, strength in strongest.items()
            if name in names and strength > 0
        ]
        # a picture is opened only where something was found
        if shown:
            width, height = frame.load().size
            for name in shown:
                yield Detection(
                    name=name,
                    score=strongest[name],
                    box=(0, 0, width, height),
                )

    def _read(self) -> None:
        """The cues of each class, and which samples show a frame; once."""
        if self._shown:
            return
        labels = self._data.labels
        with self.context.progress("reading what is known", len(self._data)) as advance:
            for index in range(len(self._data)):
                sample = self._data[index]
                for number, frame in enumerate(sample.frames):
                    # one picture may be in several samples
                    self._shown.setdefault(frame.key, []).append((sample, number))
                for label, cue in self._cue_names(sample, labels):
                    self._cues.setdefault(label, {})[cue] = None
                advance(1)
        if not self._cues:
            raise UserError(
                f"{OWNER}: the data set knows no cue",
                expected=EXPECTED,
                got="none of them",
                remedy="Take the proposer co-occurrence, cues or llm",
            )

    def _factors(self, annotations: Mapping[str, Any]) -> list[str]:
        """An answer sheet says which of the factors are cues: a species is none."""
        if "cues" in annotations:
            return []
        return list(map(str, annotations.get("factors", {}).values()))

    def _cue_names(
        self,
        sample: Sample,
        labels: Sequence[str],
    ) -> Iterator[tuple[str, str]]:
        """Class and cue, for each cue that the sample's annotations give a name to."""
        annotations = sample.annotations
        if "spuriosity" in annotations:
            for label in classes_of(sample):
                yield label, ranked_cue(label)
        spurious_class = annotations.get("spurious_class")
        if spurious_class is not None:
            yield spurious_class, feature_of(spurious_class)
        cues = list(annotations.get("cues", ()))
        # a factor that is a label is the answer, no cue
        cues += filterfalse(labels.__contains__, self._factors(annotations))
        # an answer sheet names no class, so a cue may go with any
        for cue, label in product(cues, labels):
            yield label, cue
        for name, kind in _kinds(sample):
            yield name, other_of(name, kind)

    def _strengths(self, sample: Sample, number: int) -> Strengths:
        """How strongly frame `number` of a sample shows each cue."""
        annotations = sample.annotations
        strengths: Strengths = {}
        if "spuriosity" in annotations:
            for label in classes_of(sample):
                strengths[ranked_cue(label)] = float(annotations["spuriosity"])
        spurious_class = annotations.get("spurious_class")
        if spurious_class is not None:
            strengths[feature_of(spurious_class)] = 1.0
        strengths |= dict.fromkeys(self._factors(annotations), 1.0)
        for cue, shown in annotations.get("cues", {}).items():
            strengths[cue] = float(shown[number])
        kinds = dict(_kinds(sample))
        for label, name in product(self._cues, kinds):
            cue = other_of(label, kinds[name])
            # the class itself is no other thing of its kind
            if name != label and cue in self._cues[label]:
                strengths[cue] = 1.0
        return strengths


def ranked_cue(label: str) -> str:
    """What the authors' ranking of a class is by; they name no single thing."""
    return f"known cue of {label}"


def feature_of(label: str) -> str:
    """What an image shows that was found by the class's spurious feature."""
    return f"spurious feature of {label}"


def other_of(label: str, supercategory: str) -> str:
    """Something of the class's supercategory that is not the class (SpurLens, appendix L)."""
    return f"{supercategory} thing other than {label}"


def _kinds(sample: Sample) -> list[tuple[str, str]]:
    """Each object's name and its supercategory."""
    objects = sample.annotations.get("objects", ())
    return list(
        zip(objects, sample.annotations.get("supercategories", ()), strict=False)
    )
