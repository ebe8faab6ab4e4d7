"""What is asked: yes/no questions about the images that show a cue of a class most, and least.

Candidates (cues and images) come first, then cases (the cues ranked), then the trials. All of it
is settled before the model is asked anything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, product

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
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Groups
from cuescope_spurlens.curating import filter_proposals
from cuescope_spurlens.options import MOST_NEGATIVES, Removal, SpurLensOptions
from cuescope_spurlens.questions import (
    answer_output,
    question_templates,
    question_trial,
    questions_about,
    with_article,
)
from cuescope_spurlens.spuriosity.cases import (
    Case,
    Exclusion,
    ShownSample,
    occurrences,
    rank_case,
)
from cuescope_spurlens.spuriosity.detections import (
    CueDetections,
    ImageSet,
    detect_cues,
    images_with,
    images_without,
    is_joint,
    supercategories,
)
from cuescope_spurlens.spuriosity.labels import LabelDoubts, doubtful_labels
from cuescope_spurlens.spuriosity.units import group_look_alikes

ALL_CUES = "all"  # the cue of an exclusion that is of the whole class


def has_mask(audit: Audit, sample: Sample, label: str) -> bool:
    """Whether the object's outline is annotated, or a segmenter can draw it."""
    return label in sample.annotations.get("masks", {}) or "segmenter" in audit.tools


def remove_object(
    audit: Audit,
    sample: Sample,
    label: str,
    removal: Removal,
) -> ShownSample:
    """The sample with the object taken out (section 6.1), as it is shown to the model."""
    masks = [object_mask(audit, sample, frame, label) for frame in sample.frames]
    if removal == "drop":
        return sample, HideTokens.from_mask(np.stack(masks))
    frames = []
    for frame, mask in zip(sample.frames, masks, strict=True):
        # the mask is part of the frame's key: another outline, another picture
        name = f"spurlens-mask {digest(mask)}"
        frames.append(frame.derive(name, partial(blacken, mask)))
    return sample.with_frames(tuple(frames), f"without-{label}"), None


def object_mask(
    audit: Audit,
    sample: Sample,
    frame: Frame,
    label: str,
) -> Bool[np.ndarray, "row col"]:
    """The object in a frame: as annotated, else as the segmenter outlines it."""
    annotated = sample.annotations.get("masks", {}).get(label)
    if annotated is not None:
        # masks may hold 1 or 255
        return np.asarray(annotated.load().convert("L")) > 0
    masks = audit.tools["segmenter"].segment([frame], [label])
    return np.asarray(masks[0][0], dtype=bool)


def blacken(mask: Bool[np.ndarray, "row col"], image: Image.Image) -> Image.Image:
    """The image, black under the mask, which is stretched to its size."""
    # NEAREST: a smooth edge would leave grey pixels in the object's outline.
    outline = Image.fromarray(mask.astype(np.uint8) * 255)
    over = outline.resize(image.size, Image.Resampling.NEAREST)
    return Image.composite(Image.new("RGB", image.size), image, over)


def blank_image(sample: Sample) -> Sample:
    """A wholly black image of the same size."""
    frames = tuple(
        Frame.from_array(np.zeros_like(np.asarray(f.load()))) for f in sample.frames
    )
    return sample.with_frames(frames, "blank")


Cues = Mapping[str, Sequence[str]]  # of each class


@dataclass(frozen=True, eq=False)
class Candidates:
    """The cues of each class, the images they are ranked on, and what is excluded so far."""

    cues: Cues
    image_sets: Sequence[ImageSet]
    k: int
    output: Output
    exclusions: Sequence[Exclusion]


def find_candidates(audit: Audit) -> Candidates:
    """What the proposer names, and the images with each class and without; nothing is detected."""
    output = answer_output(audit)
    samples = audit.samples_by_key()
    _refuse_impossible(audit, samples)
    cues = {}
    image_sets = []
    exclusions = []
    for label in audit.options.classes or audit.labels:
        cues[label], rejected = propose_cues(audit, label)
        exclusions += rejected
    for label in filter(cues.get, cues):
        for images in _image_sets(audit, label, samples):
            # one unit alone cannot be in a top and in a bottom
            if Groups.of(images.samples).count >= 2:
                image_sets.append(images)
                continue
            count = len(images.samples)
            of_group = " of one group" if count > 1 else ""
            reason = f"{count_of(count, 'images')}{of_group} to compare ({images.task})"
            exclusions.append(Exclusion(label, ALL_CUES, reason))
    # The paper's K: a gap of more images is surer, and COCO has the images for it.
    k = audit.options.k or (100 if benchmark_of(audit) == "COCO" else 50)
    return Candidates(cues, image_sets, k, output, exclusions)


def _refuse_impossible(audit: Audit, samples: Sequence[Sample]) -> None:
    """Raises UserError for options that this model or these data cannot follow."""
    options: SpurLensOptions = audit.options
    for name in options.classes:
        refuse_unknown("spurlens", "class", name, audit.labels)
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


def propose_cues(audit: Audit, label: str) -> tuple[list[str], list[Exclusion]]:
    """The cues of a class, curated, at most `max_cues`; and the names that are excluded."""
    proposer = audit.tools["proposer"]
    names = proposer.propose(label)
    exclusions = []
    if getattr(proposer, "curated", False):  # what a data set knows is no guess
        cues = list(dict.fromkeys(names))
    else:
        cues, rejected = filter_proposals(
            names, label, audit.tools.get("text-generator")
        )
        exclusions += [
            Exclusion(label, proposal.name, proposal.reason) for proposal in rejected
        ]
    most = audit.options.max_cues
    reason = f"beyond the first {most} (max_cues)"
    exclusions += [Exclusion(label, cue, reason) for cue in cues[most:]]
    if not cues:
        nothing = "the proposer names nothing that could be a cue"
        exclusions.append(Exclusion(label, ALL_CUES, nothing))
    return cues[:most], exclusions


def _image_sets(
    audit: Audit,
    label: str,
    samples: Sequence[Sample],
) -> list[ImageSet]:
    options: SpurLensOptions = audit.options
    image_sets = []
    # Objects are taken out of the images that show them: these are ranked for any removal.
    if "recognition" in options.tasks or options.removals:
        image_sets.append(images_with(samples, label))
    if "hallucination" in options.tasks:
        # one for each class: other classes must not change its draw
        rng = audit.rng("negatives", label)
        image_sets.append(
            images_without(samples, label, options.negatives, MOST_NEGATIVES, rng)
        )
    return image_sets


def benchmark_of(audit: Audit) -> str | None:
    """The published benchmark that the data set says it is."""
    dataset = audit.context.dataset
    return dataset.benchmark if isinstance(dataset, HasBenchmark) else None


@dataclass(frozen=True, eq=False)
class Study:
    """All cases, how they are asked, and which cues are not tried.

    `look_alikes` are the groups of images that look like another one, which count as one.
    """

    cases: Sequence[Case]
    cues: Cues
    exclusions: Sequence[Exclusion]
    templates: tuple[str, ...]
    output: Output
    blank: Sample | None = None
    look_alikes: Mapping[str, str] = field(default_factory=dict)

    def questions(
        self,
        case: Case,
        rows: Iterable[int] | None = None,
    ) -> list[list[Trial]]:
        """For each of these rows its questions; without any, of each that a cue needs."""
        questions = []
        for row in case.asked_rows.tolist() if rows is None else rows:
            sample, edit = case.changed.get(row, (case.samples[row], None))
            questions.append(self._questions(case.label, sample, edit, case.task))
        return questions

    def _questions(
        self,
        label: str,
        sample: Sample,
        edit: Edit | None,
        condition: str,
    ) -> list[Trial]:
        return [
            question_trial(sample, words, self.output, edit=edit, condition=condition)
            for words in questions_about(self.templates, label)
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
        return {
            label: self._questions(label, self.blank, None, "blank") for label in labels
        }


def build_study(audit: Audit) -> Study:
    """The candidates, ranked by the detector; what is left out on the way has its reason."""
    options: SpurLensOptions = audit.options
    candidates = audit.once(find_candidates, audit)
    exclusions = list(candidates.exclusions)
    cases = []
    detections, objects = _detect(audit, candidates)
    doubts = _label_doubts(candidates.image_sets, objects)
    # Only now: a plan ends before the detector, and need not read every image.
    image_sets, look_alikes = group_look_alikes(audit, candidates.image_sets)
    for index, images in enumerate(image_sets):
        case, unranked = rank_case(
            audit,
            images,
            candidates.cues[images.label],
            detections[index],
            objects[index],
            doubts[index],
            candidates.k,
        )
        if images.samples and not case.k:
            reason = f"the {len(images.samples)} images all look alike ({case.task})"
            exclusions.append(Exclusion(case.label, ALL_CUES, reason))
        cases.append(case)
        exclusions += unranked
    # a copy, for the loop adds to `cases`
    ranked = list(cases)
    for removal, case in product(options.removals, ranked):
        if case.task == "recognition":
            without_object, unranked = _remove_objects(
                audit, case, removal, candidates.k
            )
            cases.append(without_object)
            exclusions += unranked
    tasks = (*options.tasks, *options.removals)
    blank = None
    if "blank" in options.artificial:
        blank = blank_image(audit.samples_by_key()[0])
    return Study(
        # recognition may be ranked only for the removals that need it
        cases=[case for case in cases if case.task in tasks and case.cues and case.k],
        cues=candidates.cues,
        exclusions=exclusions,
        templates=question_templates(audit),
        output=candidates.output,
        blank=blank,
        look_alikes=look_alikes,
    )


def _detect(
    audit: Audit, candidates: Candidates
) -> tuple[list[CueDetections], list[CueDetections]]:
    """Of each image set the detections of the cues, and those of the class itself."""
    detector = audit.tools["detector"]
    image_sets = candidates.image_sets
    if is_joint(detector):
        # In a pass of its own: beside the cues the class would change their boxes, and they its.
        of_cues = detect_cues(audit, detector, image_sets, candidates.cues)
        alone = {label: (label,) for label in candidates.cues}
        return of_cues, detect_cues(audit, detector, image_sets, alone)
    # The class costs no pass: an image is shown once for all names.
    names = {label: (*of_class, label) for label, of_class in candidates.cues.items()}
    of_cues = []
    of_classes = []
    for detections in detect_cues(audit, detector, image_sets, names):
        of_cues.append(detections.select(cues=slice(0, -1)))
        of_classes.append(detections.select(cues=slice(-1, None)))
    return of_cues, of_classes


def _label_doubts(
    image_sets: Sequence[ImageSet], objects: Sequence[CueDetections]
) -> list[LabelDoubts]:
    """Of each image set, what the detector says against its labels."""
    scores = {}
    for images, of_class in zip(image_sets, objects, strict=True):
        scores[images.task, images.label] = of_class.scores[:, 0]
    doubts = []
    for images in image_sets:
        # one of the tasks may not be asked for, or have no images
        shown = scores.get(("recognition", images.label), np.empty(0))
        others = scores.get(("hallucination", images.label), np.empty(0))
        with_object, without = doubtful_labels(shown, others)
        is_shown = images.task == "recognition"
        doubts.append(with_object if is_shown else without)
    return doubts


def _remove_objects(
    audit: Audit,
    case: Case,
    removal: Removal,
    most: int,
) -> tuple[Case, list[Exclusion]]:
    """The same images, of those that have a mask, without the object."""
    label = case.label
    rows = [
        row for row, sample in enumerate(case.samples) if has_mask(audit, sample, label)
    ]
    samples = tuple(case.samples_at(rows))
    # The detections of the images as they were: a detector may find less of the cue beside a hole.
    detections = case.detections.select(rows)
    objects = case.objects.select(rows)
    images = ImageSet(removal, label, samples)
    plain, exclusions = rank_case(
        audit,
        images,
        case.cues,
        detections,
        objects,
        case.doubts.take(rows),
        most,
    )
    changed = {}
    # only what is asked about: a segmenter costs a pass an image
    for row in plain.asked_rows.tolist():
        changed[row] = remove_object(audit, samples[row], label, removal)
    return replace(plain, changed=changed), exclusions


def features(study: Study) -> Iterator[Feature]:
    """A cue of a class in a task, and the images that show it most."""
    for case in study.cases:
        for index, cue in enumerate(case.cues):
            shown = occurrences(case, index, case.rows(case.top[index]))
            name = feature_name(case, cue)
            key = case.feature_key(cue)
            yield Feature(key=key, kind=case.task, name=name, occurrences=tuple(shown))


def feature_name(case: Case, cue: str) -> str:
    """The cue, and what is known of the class beside it: a class has it in several tasks."""
    beside = {
        "recognition": f"beside {with_article(case.label)}",
        "hallucination": f"without {with_article(case.label)}",
        "drop": f"beside a hidden {case.label}",
        "mask": f"beside a blackened {case.label}",
    }
    return f"{cue} {beside[case.task]}"
