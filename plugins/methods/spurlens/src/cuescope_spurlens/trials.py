"""What is asked: yes/no questions about the images that show a cue of a class most, and least.

Candidates (cues and images) come first, then cases (the cues ranked), then the trials. All of it
is settled before the model is asked anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain

import numpy as np
from jaxtyping import Bool
from PIL import Image

from cuescope_sdk import (
    Audit,
    Edit,
    Feature,
    Frame,
    HasBenchmark,
    HideTokens,
    Output,
    Sample,
    Trial,
    UserError,
    digest,
)
from cuescope_sdk.models import refuse_unknown
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.options import Removal, SpurLensOptions
from cuescope_spurlens.questions import (
    answer_output,
    question_templates,
    question_trial,
    questions_about,
    with_article,
)
from cuescope_spurlens.spuriosity.cases import Case, Exclusion, ShownSample, occurrences, rank_case
from cuescope_spurlens.spuriosity.detections import (
    CueDetections,
    ImageSet,
    detect_cues,
    images_with,
    images_without,
    is_joint,
    samples_by_key,
    supercategories,
)
from cuescope_spurlens.spuriosity.sizes import doubtful_labels
from cuescope_spurlens.spuriosity.units import group_look_alikes, thin_groups

ALL_CUES = "all"  # the cue of an exclusion that is of the whole class


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
    names = [name for label in labels for cue in cues[label] for name in (cue, f"{label}/{cue}")]
    for name in options.curves:
        refuse_unknown("spurlens: curves", "cue", name, names)
    for label in (label for label in labels if cues[label]):
        for images in _image_sets(audit, label, samples):
            units = Groups.of(images.samples)
            if units.count >= 2:
                image_sets.append(images)
                continue
            count = len(images.samples)
            one = " of one group" if count > 1 else ""
            reason = f"{count} images{one} to compare ({images.task})"
            exclusions.append(Exclusion(label, ALL_CUES, reason))
    # The paper's K: a gap of more images is surer, and COCO has the images for it.
    k = options.k or (100 if benchmark_of(audit) == "COCO" else 50)
    return Candidates(cues, tuple(image_sets), k, output, tuple(exclusions))


def propose_cues(audit: Audit, label: str) -> tuple[tuple[str, ...], list[Exclusion]]:
    """The cues of a class, curated, at most `max_cues`; and the names that are excluded."""
    from cuescope_sdk.language import filter_proposals

    proposer = audit.tools["proposer"]
    names = proposer.propose(label)
    exclusions: list[Exclusion] = []
    if getattr(proposer, "curated", False):  # what a data set knows is no guess
        cues = list(dict.fromkeys(names))
    else:
        cues, rejected = filter_proposals(names, label, audit.tools.get("text-generator"))
        exclusions += [Exclusion(label, proposal.name, proposal.reason) for proposal in rejected]
    most = audit.options.max_cues
    reason = f"beyond the first {most} (max_cues)"
    exclusions += [Exclusion(label, cue, reason) for cue in cues[most:]]
    if not cues:
        nothing = "the proposer names nothing that could be a cue"
        exclusions.append(Exclusion(label, ALL_CUES, nothing))
    return tuple(cues[:most]), exclusions


def _image_sets(audit: Audit, label: str, samples: Sequence[Sample]) -> Iterator[ImageSet]:
    options: SpurLensOptions = audit.options
    image_sets = []
    # Objects are taken out of the images that show them: these are ranked for any removal.
    if "recognition" in options.tasks or options.removals:
        image_sets.append(images_with(samples, label))
    if "hallucination" in options.tasks:
        rng, most = audit.rng("negatives", label), options.most_negatives
        image_sets.append(images_without(samples, label, options.negatives, most, rng))
    for images in image_sets:
        rng = audit.rng("group", images.task, label)
        yield replace(images, samples=thin_groups(images.samples, options.per_group, rng))


def benchmark_of(audit: Audit) -> str | None:
    """The published benchmark that the data set says it is."""
    dataset = audit.context.dataset
    return dataset.benchmark if isinstance(dataset, HasBenchmark) else None


@dataclass(frozen=True, eq=False)
class Study:
    """All cases, how they are asked, and which cues are not tried.

    `look_alikes` is the number of images that look like another one, and share its group.
    """

    cases: tuple[Case, ...]
    cues: Mapping[str, tuple[str, ...]]
    exclusions: tuple[Exclusion, ...]
    templates: tuple[str, ...]
    output: Output
    blank: Sample | None = None
    look_alikes: int = 0

    def questions(self, case: Case, rows: Sequence[int] | None = None) -> list[list[Trial]]:
        """For each of these rows its questions; without any, of each that a cue needs."""
        rows = case.asked_rows.tolist() if rows is None else rows
        shown = (case.changed.get(row, (case.samples[row], None)) for row in rows)
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
    detections, objects = _detect(audit, candidates)
    sets = [images.samples for images in candidates.image_sets]
    # Only now: a plan ends before the detector, and need not read every image.
    sets, alike = group_look_alikes(audit, sets)
    rows = zip(candidates.image_sets, sets, detections, objects, strict=True)
    for image_set, samples, of_cues, of_object in rows:
        images = replace(image_set, samples=samples)
        case, unranked = rank_case(audit, images, of_cues, cues[images.label], k)
        if samples and not case.k:
            reason = f"the {len(samples)} images all look alike ({case.task})"
            exclusions.append(Exclusion(case.label, ALL_CUES, reason))
        cases.append(replace(case, objects=of_object))
        exclusions += unranked
    cases = _doubt_labels(cases)
    recognition = [case for case in cases if case.task == "recognition"]
    for removal in options.removals:
        for case in recognition:
            without_object, unranked = _remove_objects(audit, case, removal, k)
            cases.append(without_object)
            exclusions += unranked
    wanted = (*options.tasks, *options.removals)
    blank = blank_image(samples_by_key(audit)[0]) if "blank" in options.artificial else None
    asked = tuple(case for case in cases if case.task in wanted and case.cues and case.k)
    templates = question_templates(audit)
    return Study(asked, cues, tuple(exclusions), templates, candidates.output, blank, alike)


def _detect(
    audit: Audit, candidates: Candidates
) -> tuple[list[CueDetections], list[CueDetections]]:
    """Of each image set the detections of the cues, and those of the class itself."""
    detector, cues, image_sets = audit.tools["detector"], candidates.cues, candidates.image_sets
    if is_joint(detector):
        # In a pass of its own: beside the cues the class would change their boxes, and they its.
        alone = {label: (label,) for label in cues}
        return (
            detect_cues(audit, detector, image_sets, cues),
            detect_cues(audit, detector, image_sets, alone),
        )
    # The class costs no pass: an image is shown once for all names.
    names = {label: (*of_class, label) for label, of_class in cues.items()}
    detections = detect_cues(audit, detector, image_sets, names)
    every = slice(None)
    of_cues = [of_images.select(every, slice(0, -1)) for of_images in detections]
    return of_cues, [of_images.select(every, slice(-1, None)) for of_images in detections]


def _doubt_labels(cases: Sequence[Case]) -> list[Case]:
    """The cases with the rows whose label the detector contradicts."""
    scores: dict[tuple[str, str], np.ndarray] = {
        (case.task, case.label): case.objects.scores[:, 0]
        for case in cases
        if case.objects is not None
    }
    doubtful: dict[tuple[str, str], np.ndarray] = {}
    for label in dict.fromkeys(case.label for case in cases):
        keys = [("recognition", label), ("hallucination", label)]
        sides = doubtful_labels(*(scores.get(key, np.empty(0)) for key in keys))
        doubtful.update(zip(keys, sides, strict=True))
    return [
        replace(case, doubtful=doubtful[case.task, case.label])
        if case.objects is not None
        else case
        for case in cases
    ]


def _remove_objects(
    audit: Audit, case: Case, removal: Removal, most: int
) -> tuple[Case, list[Exclusion]]:
    """The same images, of those that have a mask, without the object."""
    rows = [row for row, s in enumerate(case.samples) if has_mask(audit, s, case.label)]
    images = ImageSet(removal, case.label, tuple(case.samples[row] for row in rows))
    # The detections of the images as they were: a detector may find less of the cue beside a hole.
    detections = case.detections.select(rows, slice(None))
    plain, exclusions = rank_case(audit, images, detections, case.cues, most)
    if case.objects is not None and case.doubtful is not None:
        objects, doubtful = case.objects.select(rows, slice(None)), case.doubtful[rows]
        plain = replace(plain, objects=objects, doubtful=doubtful)
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
                name=feature_name(case, cue),
                occurrences=tuple(occurrences(case, index, case.rows(case.top[index]))),
            )


def feature_name(case: Case, cue: str) -> str:
    """The cue, and what is known of the class beside it: a class has it in several tasks."""
    beside = {
        "recognition": f"beside {with_article(case.label)}",
        "hallucination": f"without {with_article(case.label)}",
        "drop": f"beside a hidden {case.label}",
        "mask": f"beside a blackened {case.label}",
    }
    return f"{cue} {beside[case.task]}"
