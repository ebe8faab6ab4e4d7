"""From classes to cases: propose, look, rank. All is settled before the model is asked anything."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit, Sample, UserError, nearest
from cuescope_spurlens.asking import asked_as
from cuescope_spurlens.cases import Case, LeftOut, Study
from cuescope_spurlens.gaps import ranked
from cuescope_spurlens.pools import Pool, by_key, negatives, positives, supercategories
from cuescope_spurlens.removing import Removal, blank, check_can_remove, has_mask, removed
from cuescope_spurlens.sighting import Sightings, is_joint, look, passes_at_most

if TYPE_CHECKING:
    from cuescope_spurlens import SpurLens

COCO = "cuescope_coco"
NAMED = 8


def study(audit: Audit, options: "SpurLens.Options") -> Study:
    """What will be asked; what is left out on the way is kept with its reason."""
    output, labels = asked_as(audit), chosen_labels(audit, options)
    for how in removals(options):
        check_can_remove(audit, how)
    left_out: list[LeftOut] = []
    samples, k = by_key(audit), options.k or default_k(audit)
    if options.negatives == "supercategory" and not supercategories(samples):
        raise UserError("spurlens: negatives=supercategory", got="none in this data",
                        expected="a data set with supercategories",
                        remedy="Take -O negatives=all or others")  # fmt: skip
    cues = {label: tuple(_proposed(audit, options, label, left_out)) for label in labels}
    pools = [
        pool
        for label in labels
        if cues[label]
        for pool in _pools(audit, options, label, samples)
        if _is_enough(pool, left_out)
    ]
    note_cost(audit, options, pools, cues, k)
    cases = [
        _case(audit, pool, seen, cues[pool.label], k, left_out)
        for pool, seen in zip(pools, look(audit, audit.tools["detector"], pools, cues), strict=True)
    ]
    changed = [
        _without_object(audit, case, how, k, left_out)
        for how in removals(options)
        for case in cases
        if case.task == "recognition"
    ]
    wanted = (*tasks(options), *removals(options))
    return Study(
        tuple(case for case in (*cases, *changed) if case.task in wanted and case.cues and case.k),
        cues, tuple(left_out), options.questions, output,
        blank(samples[0]) if "blank" in options.artificial else None,
    )  # fmt: skip


def note_cost(
    audit: Audit,
    options: "SpurLens.Options",
    pools: Sequence[Pool],
    cues: Mapping[str, Sequence[str]],
    k: int,
) -> None:
    """The most that the detector and the model can be asked, known before either is."""
    detector = audit.tools["detector"]
    audit.note(
        "detector passes",
        f"{passes_at_most(pools, detector):,} at most, each image once for all "
        + ("cues of a class" if is_joint(detector) else "its cues"),
    )
    ways = {"recognition": ("recognition" in tasks(options)) + len(removals(options))}
    shown = sum(
        ways.get(pool.task, 1) * min(len(pool.samples), 2 * k * len(cues[pool.label]))
        for pool in pools
    )
    if "blank" in options.artificial:
        shown += len(cues)
    audit.note("questions", f"{shown * len(options.questions):,} at most, each asked once")
    if "patches" in audit.capabilities.exposes and "recognition" in tasks(options):
        audit.note("vision encoder", f"{len(audit.samples):,} images read at most, for its probe")


def tasks(options: "SpurLens.Options") -> tuple[str, ...]:
    """What is compared on the images as they are."""
    return ("recognition", "hallucination") if options.task == "both" else (options.task,)


def removals(options: "SpurLens.Options") -> tuple[Removal, ...]:
    """How objects are taken out of their images."""
    return tuple(how for how in options.artificial if how != "blank")


def default_k(audit: Audit) -> int:
    """That of the paper: 100 for COCO, 50 for others."""
    return 100 if module_of(audit.context.dataset) == COCO else 50


def module_of(dataset: object) -> str:
    """What a data set comes from: `cuescope_coco`."""
    return type(dataset).__module__.partition(".")[0]


def chosen_labels(audit: Audit, options: "SpurLens.Options") -> tuple[str, ...]:
    """All classes or those of the options; raises UserError for a name that is none."""
    for name in options.classes:
        if name not in audit.labels:
            known = ", ".join(audit.labels[:NAMED])
            more = f" and {len(audit.labels) - NAMED} more" if len(audit.labels) > NAMED else ""
            raise UserError(f"spurlens: no class '{name}'", expected=f"one of {known}{more}",
                            remedy=nearest(name, audit.labels))  # fmt: skip
    return options.classes or audit.labels


def _proposed(
    audit: Audit, options: "SpurLens.Options", label: str, left_out: list[LeftOut]
) -> Sequence[str]:
    """The cues of a class, curated; at most `max_cues`."""
    from cuescope_sdk.language import filter_proposals

    raw = audit.tools["proposer"].propose(label)
    kept, rejected = filter_proposals(raw, label, audit.tools.get("text-generator"))
    left_out += [(label, one.name, one.reason) for one in rejected]
    most = options.max_cues
    left_out += [(label, cue, f"beyond the first {most} (max_cues)") for cue in kept[most:]]
    if not kept:
        left_out.append((label, "all", "the proposer names nothing that could be a cue"))
    return kept[:most]


def _pools(
    audit: Audit, options: "SpurLens.Options", label: str, samples: Sequence[Sample]
) -> Iterator[Pool]:
    if "recognition" in tasks(options) or removals(options):
        yield positives(samples, label)
    if "hallucination" in tasks(options):
        yield negatives(
            samples, label, options.negatives, options.most_negatives,
            audit.rng("negatives", label),
        )  # fmt: skip


def _is_enough(pool: Pool, left_out: list[LeftOut]) -> bool:
    if len(pool.samples) >= 2:
        return True
    left_out.append((pool.label, "all", f"{len(pool.samples)} images to compare ({pool.task})"))
    return False


def _case(
    audit: Audit, pool: Pool, seen: Sightings, cues: Sequence[str], most: int,
    left_out: list[LeftOut],
) -> Case:  # fmt: skip
    """The rankings of the cues that rank: not all images have the same K-score."""
    ranks = np.ptp(seen.scores, axis=0) > 0 if len(pool.samples) else np.zeros(len(cues), bool)
    for place in np.flatnonzero(~ranks).tolist():
        where = "in every image alike" if seen.scores[:, place].any() else "never detected"
        left_out.append((pool.label, cues[place], f"{where} ({pool.task})"))
    kept = np.flatnonzero(ranks).tolist()
    seen = seen.at(slice(None), kept)
    # Ties fall alike with and without the object.
    ties = "hallucination" if pool.task == "hallucination" else "recognition"
    k = min(most, len(pool.samples) // 2)
    top, bottom = ranked(seen.scores, k, audit.rng("ties", ties, pool.label))
    names = tuple(cues[place] for place in kept)
    return Case(pool.task, pool.label, pool.samples, names, seen, top, bottom)


def _without_object(
    audit: Audit, case: Case, how: Removal, most: int, left_out: list[LeftOut]
) -> Case:
    """The same images, of those that have a mask, without the object."""
    places = [p for p, sample in enumerate(case.samples) if has_mask(audit, sample, case.label)]
    pool = Pool(how, case.label, tuple(case.samples[place] for place in places))
    seen = case.seen.at(places, slice(None))
    plain = _case(audit, pool, seen, case.cues, most, left_out)
    instead = {p: removed(audit, pool.samples[p], case.label, how) for p in plain.asked.tolist()}
    return replace(plain, instead=instead)
