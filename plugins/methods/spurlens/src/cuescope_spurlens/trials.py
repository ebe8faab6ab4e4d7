"""What is asked: yes/no questions about the images that show a cue of a class most, and least.

Candidates (cues and images) come first, then cases (the cues ranked), then the trials. All of it
is settled before the model is asked anything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from PIL import Image

from cuescope_sdk import (
    Audit,
    Edit,
    Feature,
    Frame,
    HasBenchmark,
    HideTokens,
    Occurrence,
    Output,
    Sample,
    Trial,
    UserError,
    digest,
)
from cuescope_sdk.models import refuse_unknown
from cuescope_spurlens.detections import (
    CueDetections,
    ImageSet,
    Task,
    detect_cues,
    images_with,
    images_without,
    rank_images,
    samples_by_key,
    supercategories,
)
from cuescope_spurlens.options import Removal, SpurLensOptions

CHOICES = ("yes", "no")
SINGULAR = ("ss", "us", "is", "gas", "lens", "canvas")
ALL_CUES = "all"  # the cue of an exclusion that is of the whole class
TrialKey = tuple[str, Edit | None]  # frames and question, edit
ShownSample = tuple[Sample, Edit | None]


class Exclusion(NamedTuple):
    """What is not compared, and why."""

    label: str
    cue: str
    reason: str


def with_article(noun: str) -> str:
    """`a cup`, `an apple`, `a unicorn`; a plural stays as it is: `skis`, `scissors`.

    >>> with_article("ear of corn"), with_article("one-way sign"), with_article("scissors")
    ('an ear of corn', 'a one-way sign', 'scissors')
    """
    lower = noun.lower()
    if (lower.endswith("s") and not lower.endswith(SINGULAR)) or lower.endswith("skis"):
        return noun
    sounds_like_you = lower.startswith(("uni", "use", "eu", "ukulele", "one", "uro"))
    # Of the words in "uni", those in "unin" begin with the prefix "un": "an uninflated ball".
    vowel = lower[:1] in set("aeiou") and (not sounds_like_you or lower.startswith("unin"))
    return f"{'an' if vowel or lower.startswith('hour') else 'a'} {noun}"


def questions_about(templates: Sequence[str], label: str) -> tuple[str, ...]:
    """The questions about a class; `{object}` is the class with its article."""
    # No str.format: a person's own question may have other braces, of JSON for example.
    return tuple(template.replace("{object}", with_article(label)) for template in templates)


def answer_output(audit: Audit) -> Output:
    """Text where the model writes, for only words can be no answer; else logits.

    Raises UserError for a model that gives neither, and for one that only repeats recorded answers.
    """
    preferred: tuple[Output, ...] = ("text", "logits")
    outputs = [output for output in preferred if output in audit.capabilities.outputs]
    recorded = "recorded" in audit.capabilities.exposes
    if recorded or not outputs:
        others = ", ".join(sorted(audit.capabilities.outputs)) or "no output"
        raise UserError(
            "spurlens asks yes/no questions of its own",
            expected="a model that answers them by 'text' or 'logits'",
            got="recorded answers" if recorded else others,
        )
    return outputs[0]


def question_trial(
    sample: Sample, question: str, output: Output, *, edit: Edit | None = None, condition: str
) -> Trial:
    """A question about an image. What is known of the image stays behind."""
    # A sample of its own: the data set's label and choices are no part of a yes/no question, and
    # would only make equal questions look different to the cache.
    asked = Sample(
        key=f"{sample.key}/spurlens", frames=sample.frames, question=question, choices=CHOICES
    )
    return Trial(sample=asked, edit=edit, condition=condition, outputs=frozenset({output}))


def trial_key(trial: Trial) -> TrialKey:
    """Equal for trials that show and ask the same."""
    return f"{frames_key(trial.sample)}|{trial.sample.question}", trial.edit


def frames_key(sample: Sample) -> str:
    """Equal for samples that show the same pixels."""
    return "|".join(frame.key for frame in sample.frames)


def distinct_trials(trials: Iterable[Trial]) -> Iterator[Trial]:
    """Each once, in order."""
    first: dict[TrialKey, Trial] = {}
    for trial in trials:
        first.setdefault(trial_key(trial), trial)
    return iter(first.values())


def has_mask(audit: Audit, sample: Sample, label: str) -> bool:
    """Whether the object's outline is annotated, or a segmenter can draw it."""
    return label in sample.annotations.get("masks", {}) or "segmenter" in audit.tools


def remove_object(audit: Audit, sample: Sample, label: str, removal: Removal) -> ShownSample:
    """The sample with the object taken out (section 6.1), as it is shown to the model."""
    masks = [object_mask(audit, sample, frame, label) for frame in range(len(sample.frames))]
    if removal == "drop":
        return sample, HideTokens.from_mask(np.stack(masks))
    frames = tuple(
        frame.derive(f"spurlens-mask {digest(mask)}", partial(blacken, mask))
        for frame, mask in zip(sample.frames, masks, strict=True)
    )
    return sample.with_frames(frames, f"without-{label}"), None


def object_mask(
    audit: Audit, sample: Sample, frame: int, label: str
) -> Bool[np.ndarray, "row col"]:
    """The object in a frame: as annotated, else as the segmenter outlines it."""
    annotated = sample.annotations.get("masks", {}).get(label)
    if annotated is not None:
        return np.asarray(annotated.load().convert("L")) > 0
    masks = audit.tools["segmenter"].segment([sample.frames[frame]], [label])
    return np.asarray(masks[0][0], dtype=bool)


def blacken(mask: Bool[np.ndarray, "row col"], image: Image.Image) -> Image.Image:
    """The image, black under the mask, which is stretched to its size."""
    # NEAREST: a smooth edge would leave grey pixels in the object's outline.
    size = image.size
    over = Image.fromarray(mask.astype(np.uint8) * 255).resize(size, Image.Resampling.NEAREST)
    return Image.composite(Image.new("RGB", size), image, over)


def blank_image(sample: Sample) -> Sample:
    """A wholly black image of the same size."""
    frames = tuple(Frame.from_array(np.zeros_like(np.asarray(f.load()))) for f in sample.frames)
    return sample.with_frames(frames, "blank")


@dataclass(frozen=True, eq=False)
class Candidates:
    """The cues of each class, the images they are ranked on, and what is excluded so far."""

    cues: Mapping[str, tuple[str, ...]]
    image_sets: tuple[ImageSet, ...]
    k: int
    output: Output
    exclusions: tuple[Exclusion, ...]


def find_candidates(audit: Audit) -> Candidates:
    """What the proposer names, and the images with each class and without; nothing is detected."""
    options: SpurLensOptions = audit.options
    output, samples = answer_output(audit), samples_by_key(audit)
    for name in options.classes:
        refuse_unknown("spurlens", "class", name, audit.labels)
    labels = options.classes or audit.labels
    if "drop" in options.removals and "hide-tokens" not in audit.capabilities.edits:
        raise UserError(
            "spurlens: artificial=drop",
            expected="a model that takes the edit 'hide-tokens'",
            remedy="Use -O artificial=mask, which blackens the object",
        )
    if options.negatives == "supercategory" and not supercategories(samples):
        raise UserError(
            "spurlens: negatives=supercategory",
            expected="a data set with supercategories",
            got="none in this data",
            remedy="Take -O negatives=all or others",
        )
    cues, image_sets, exclusions = dict[str, tuple[str, ...]](), list[ImageSet](), []
    for label in labels:
        cues[label], rejected = propose_cues(audit, label)
        exclusions += rejected
    for label in (label for label in labels if cues[label]):
        for images in _image_sets(audit, label, samples):
            count = len(images.samples)
            if count >= 2:
                image_sets.append(images)
            else:
                reason = f"{count} images to compare ({images.task})"
                exclusions.append(Exclusion(label, ALL_CUES, reason))
    # The paper's K: a gap of more images is surer, and COCO has the images for it.
    k = options.k or (100 if benchmark_of(audit) == "COCO" else 50)
    return Candidates(cues, tuple(image_sets), k, output, tuple(exclusions))


def propose_cues(audit: Audit, label: str) -> tuple[tuple[str, ...], list[Exclusion]]:
    """The cues of a class, curated, at most `max_cues`; and the names that are excluded."""
    from cuescope_sdk.language import filter_proposals

    names = audit.tools["proposer"].propose(label)
    cues, rejected = filter_proposals(names, label, audit.tools.get("text-generator"))
    exclusions = [Exclusion(label, proposal.name, proposal.reason) for proposal in rejected]
    most = audit.options.max_cues
    reason = f"beyond the first {most} (max_cues)"
    exclusions += [Exclusion(label, cue, reason) for cue in cues[most:]]
    if not cues:
        nothing = "the proposer names nothing that could be a cue"
        exclusions.append(Exclusion(label, ALL_CUES, nothing))
    return tuple(cues[:most]), exclusions


def _image_sets(audit: Audit, label: str, samples: Sequence[Sample]) -> Iterator[ImageSet]:
    options: SpurLensOptions = audit.options
    # Objects are taken out of the images that show them: these are ranked for any removal.
    if "recognition" in options.tasks or options.removals:
        yield images_with(samples, label)
    if "hallucination" in options.tasks:
        rng = audit.rng("negatives", label)
        yield images_without(samples, label, options.negatives, options.most_negatives, rng)


def benchmark_of(audit: Audit) -> str | None:
    """The published benchmark that the data set says it is."""
    dataset = audit.context.dataset
    return dataset.benchmark if isinstance(dataset, HasBenchmark) else None


@dataclass(frozen=True, eq=False)
class Case:
    """A class in a task: its cues, their detections, and the k images that show each most, least.

    `top` and `bottom` are rows of `samples`; `changed` has the samples that are shown changed, by
    row.
    """

    task: Task
    label: str
    samples: tuple[Sample, ...]
    cues: tuple[str, ...]
    detections: CueDetections
    top: Int[np.ndarray, "cue k"]
    bottom: Int[np.ndarray, "cue k"]
    changed: Mapping[int, ShownSample] = field(default_factory=dict)

    @property
    def k(self) -> int:
        """Images with the cue, and as many without."""
        return int(self.top.shape[1])

    @property
    def is_changed(self) -> bool:
        """Whether the images are shown without their object."""
        return self.task in ("drop", "mask")

    @cached_property
    def asked_rows(self) -> Int[np.ndarray, " asked"]:
        """Rows of the samples that are in any top or bottom."""
        return np.unique(np.concatenate([self.top.ravel(), self.bottom.ravel()]))

    def asked_index(self, rows: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        """Where rows of `samples` are among `asked_rows`."""
        return np.searchsorted(self.asked_rows, rows)

    def feature_key(self, cue: str) -> str:
        """The key of the cue's feature."""
        return f"{self.task}/{self.label}/{cue}"

    def splits_by_presence(self, cue: int) -> bool:
        """Whether all images of the top show the cue, and none of the bottom."""
        scores = self.detections.scores[:, cue]
        return bool((scores[self.top[cue]] > 0).all() and not scores[self.bottom[cue]].any())


@dataclass(frozen=True, eq=False)
class Study:
    """All cases, how they are asked, and which cues are not tried."""

    cases: tuple[Case, ...]
    cues: Mapping[str, tuple[str, ...]]
    exclusions: tuple[Exclusion, ...]
    templates: tuple[str, ...]
    output: Output
    blank: Sample | None = None

    def questions(self, case: Case) -> list[list[Trial]]:
        """For each asked sample its questions."""
        shown = (case.changed.get(r, (case.samples[r], None)) for r in case.asked_rows.tolist())
        return [self._questions(case.label, sample, edit, case.task) for sample, edit in shown]

    def _questions(
        self, label: str, sample: Sample, edit: Edit | None, condition: str
    ) -> list[Trial]:
        return [
            question_trial(sample, question, self.output, edit=edit, condition=condition)
            for question in questions_about(self.templates, label)
        ]

    def trials(self) -> Iterator[Trial]:
        """Every question that any cue needs, perhaps more than once."""
        rows = chain.from_iterable(map(self.questions, self.cases))
        yield from chain.from_iterable((*rows, *self.blank_questions.values()))

    @cached_property
    def blank_questions(self) -> dict[str, list[Trial]]:
        """The questions about a black image, by class."""
        if self.blank is None:
            return {}
        labels = dict.fromkeys(case.label for case in self.cases)
        return {label: self._questions(label, self.blank, None, "blank") for label in labels}


def build_study(audit: Audit) -> Study:
    """The candidates, ranked by the detector; what is left out on the way has its reason."""
    options: SpurLensOptions = audit.options
    candidates = audit.once(find_candidates, audit)
    cues, k, exclusions = candidates.cues, candidates.k, list(candidates.exclusions)
    cases = []
    detections = detect_cues(audit, audit.tools["detector"], candidates.image_sets, cues)
    for images, of_images in zip(candidates.image_sets, detections, strict=True):
        case, unranked = _rank_case(audit, images, of_images, cues[images.label], k)
        cases.append(case)
        exclusions += unranked
    recognition = [case for case in cases if case.task == "recognition"]
    for removal in options.removals:
        for case in recognition:
            without_object, unranked = _remove_objects(audit, case, removal, k)
            cases.append(without_object)
            exclusions += unranked
    wanted = (*options.tasks, *options.removals)
    blank = blank_image(samples_by_key(audit)[0]) if "blank" in options.artificial else None
    asked = tuple(case for case in cases if case.task in wanted and case.cues and case.k)
    return Study(asked, cues, tuple(exclusions), options.questions, candidates.output, blank)


def _rank_case(
    audit: Audit, images: ImageSet, detections: CueDetections, cues: Sequence[str], most: int
) -> tuple[Case, list[Exclusion]]:
    """The cues that rank the images, which are not those of one K-score in all of them."""
    count, scores = len(images.samples), detections.scores
    # Of no image there is no range: numpy's ptp would raise.
    ranks = np.ptp(scores, axis=0) > 0 if count else np.zeros(len(cues), bool)
    exclusions = []
    for cue in np.flatnonzero(~ranks).tolist():
        where = "in every image alike" if scores[:, cue].any() else "never detected"
        exclusions.append(Exclusion(images.label, cues[cue], f"{where} ({images.task})"))
    ranking = np.flatnonzero(ranks).tolist()
    detections = detections.select(slice(None), ranking)
    # Ties fall alike with and without the object: drop and mask share recognition's generator, so
    # that a changed image is compared with itself.
    ties = "hallucination" if images.task == "hallucination" else "recognition"
    # With half of the images at most, no image is in the top and the bottom of a cue.
    k = min(most, count // 2)
    top, bottom = rank_images(detections.scores, k, audit.rng("ties", ties, images.label))
    names = tuple(cues[cue] for cue in ranking)
    case = Case(images.task, images.label, images.samples, names, detections, top, bottom)
    return case, exclusions


def _remove_objects(
    audit: Audit, case: Case, removal: Removal, most: int
) -> tuple[Case, list[Exclusion]]:
    """The same images, of those that have a mask, without the object."""
    rows = [row for row, s in enumerate(case.samples) if has_mask(audit, s, case.label)]
    images = ImageSet(removal, case.label, tuple(case.samples[row] for row in rows))
    # The detections of the images as they were: a detector may find less of the cue beside a hole.
    detections = case.detections.select(rows, slice(None))
    plain, exclusions = _rank_case(audit, images, detections, case.cues, most)
    changed = {
        row: remove_object(audit, images.samples[row], case.label, removal)
        for row in plain.asked_rows.tolist()
    }
    return replace(plain, changed=changed), exclusions


def features(study: Study) -> Iterator[Feature]:
    """A cue of a class in a task, and the images that show it most."""
    for case in study.cases:
        for index, cue in enumerate(case.cues):
            yield Feature(
                key=case.feature_key(cue),
                kind=case.task,
                name=cue,
                occurrences=tuple(_occurrences(case, index)),
            )


def _occurrences(case: Case, cue: int) -> Iterator[Occurrence]:
    detections = case.detections
    for row in case.top[cue].tolist():
        # Where fewer than k images show the cue, the rest of the top has no box to point at.
        if detections.scores[row, cue] > 0:
            x0, y0, x1, y1 = detections.boxes[row, cue].tolist()
            yield Occurrence(
                sample=case.samples[row].key,
                frame=int(detections.frames[row, cue]),
                region=(x0, y0, x1, y1),
                strength=float(detections.scores[row, cue]),
            )
