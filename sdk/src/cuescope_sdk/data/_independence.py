"""Check that samples were drawn independently, by what is declared or can be seen.

Frames of one video and copies of one photo prove less than as many photos. That samples look
different does not show that they are independent, so only a declaration supports it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import Literal

import numpy as np

from cuescope_core.affected import root
from cuescope_core.amounts import count_of
from cuescope_sdk import Audit, Dataset, Evidence, Outcome, Sample
from cuescope_sdk.data._media.files import count_in_words

# with 5 clips a source 4 in 10 audits of an unbiased model had findings (docs/adr/0023)
CHECK = "independent samples"
ALIKE = 0.05  # share of samples that look alike from which on it matters
SEVERAL = 3  # and how many
COMPARED = 300  # samples
CLIPS_COMPARED = 100  # fewer: a frame of a film takes longer than a photo
IN_STEP = 0.01  # p-value from which on neighbours are right and wrong together
SMOOTH = 2  # degree of a drift of errors along the data
HELD_ALIKE = 3  # findings: more would leave nothing to compare
JUDGED = 20  # samples whose answers can be right or wrong, at least
# where the check is refuted the engine takes the star of every finding (docs/adr/0023)
DOUBT = (
    "But the samples do not look independent, so this may be chance: see the check "
    f"'{CHECK}'."
)
REMEDY = (
    "declare it (-O data.group='(.*)_frame' for such file names, a column 'group' in a "
    "manifest, or "
    "Sample.group in a data set of your own)"
)


def independent_samples(
    audit: Audit,
    inferred: Mapping[str, str] | None = None,
    *,
    place_is_held: bool = False,
) -> Iterator[Evidence]:
    """Check of independence: how many groups are declared, or else what can be seen of the samples.

    Every method's `verify` yields it: `yield from independent_samples(audit)`. `inferred` names the
    group of each sample that looks like another one, where the method counts such groups as one.
    `place_is_held` says that all its findings are held alike in the place in the data
    (`other_explanations`): errors that drift along the data are then no reason to doubt them.
    """
    if any(sample.group is not None for sample in audit.samples):
        yield declared_groups(audit.samples)
    else:
        yield without_groups(audit, inferred, place_is_held=place_is_held)


def declared_groups(samples: Sequence[Sample]) -> Evidence:
    """How many groups there are, and whether these are few."""
    # scipy takes a second, and verify needs it
    from cuescope_sdk.statistics import Groups

    groups = Groups.of(samples)
    total = count_in_words(len(samples), "sample")
    largest = int(np.bincount(groups.codes).max())
    if groups.all_single:
        detail = f"{total}, each drawn by itself, as declared."
    elif groups.count == 1:
        detail = f"All {total} are of one group, '{samples[0].group}': no test can go beyond it."
    else:
        detail = (
            f"{total} of {groups.count:,} groups, the largest of {largest:,}: tests and intervals "
            "draw whole groups."
        )
        if alone := sum(sample.group is None for sample in samples):
            detail += f" {alone:,} without a group count by themselves."
    if groups.few and groups.count > 1:
        detail += f" That is few (below {Groups.FEW}): intervals hold only roughly."
    verdict = "inconclusive" if groups.few else "supported"
    return Evidence(
        check=CHECK,
        verdict="refuted" if groups.count == 1 < len(samples) else verdict,
        detail=detail,
        value=groups.count,
        threshold=Groups.FEW,
        n=len(samples),
    )


# ------------------------------------------------------------------------------ without groups


@dataclass(frozen=True, slots=True)
class Alike:
    """Samples, of `compared` ones, that look like another one, the two most alike first.

    Of `plain` images two may be alike by chance: only neighbours were compared.
    """

    compared: int
    samples: tuple[str, ...] = ()
    plain: bool = False

    @property
    def share(self) -> float:
        return len(self.samples) / max(1, self.compared)

    @property
    def matters(self) -> bool:
        return self.share >= ALIKE and len(self.samples) >= SEVERAL


def without_groups(
    audit: Audit,
    inferred: Mapping[str, str] | None,
    *,
    place_is_held: bool = False,
) -> Evidence:
    """Check samples of which no groups are known: for copies, and answers in step."""
    # two signs, neither of which asks the model anything more (docs/adr/0023)
    alike = look_alikes_as_one(audit, inferred) if inferred else look_alikes(audit)
    if alike.verdict == "refuted":
        return alike
    # errors that drift along the data are in step, and so are clips of one source: only these are
    # left beside a smooth curve
    trend = SMOOTH if place_is_held else 0
    found = strongest_findings(audit)
    looks = {
        "whose names differ in their last number alone": names_in_step(audit, inferred),
        "side by side in the data": neighbours_in_step(
            audit, inferred, found, trend=trend
        ),
    }
    seen = {where: p for where, p in looks.items() if p is not None and p <= IN_STEP}
    if seen:
        where, p_value = next(iter(seen.items()))
        ask = f"Do they come from one video, place or time? Then {REMEDY}."
        return _in_step("refuted", where, p_value, ask, len(audit.samples))
    # what was found is held alike above: a few bad sources are found, and leave nothing behind
    of_all = neighbours_in_step(audit, inferred, (), trend=trend) if found else None
    if of_all is None or of_all > IN_STEP:
        return alike
    ask = (
        "This correlates with what was found: the data are sorted by it, or it is in a few videos, "
        f"places or times. If they are not sorted, {REMEDY}."
    )
    where = "side by side in the data"
    return _in_step("inconclusive", where, of_all, ask, len(audit.samples))


def _in_step(
    verdict: Literal["refuted", "inconclusive"],
    where: str,
    p_value: float,
    ask: str,
    n: int,
) -> Evidence:
    return Evidence(
        check=CHECK,
        verdict=verdict,
        detail=f"Samples {where} are answered alike, right or wrong, more often than chance lets "
        f"them (p = {p_value:.4f}). {ask} Of sorted data, declare a group of its own for each "
        "sample.",
        value=p_value,
        threshold=IN_STEP,
        n=n,
        doubt=DOUBT,
    )


def strongest_findings(audit: Audit) -> list[set[str]]:
    """The samples in which each of the strongest findings occurs."""
    found = dict.fromkeys(score.feature for score in audit.scores if score.finding)
    occurrences = {feature.key: feature.occurrences for feature in audit.features}
    return [
        {occurrence.sample for occurrence in occurrences[key]}
        for key in list(found)[:HELD_ALIKE]
    ]


def names_in_step(audit: Audit, inferred: Mapping[str, str] | None) -> float | None:
    """p-value that samples with one stem of their names are answered alike; None without such.

    "clip7_3" and "clip7_4" have the stem "clip7". One stem for all, or for none twice, shows
    nothing.
    """
    keys = [sample.key for sample in audit.samples]
    stems = [stem_of(key) for key in keys]
    if not 1 < len(set(stems)) < len(stems):
        return None
    order = np.argsort(stems, kind="stable")
    places = {keys[index]: place for place, index in enumerate(order.tolist())}
    return neighbours_in_step(audit, inferred, strongest_findings(audit), places=places)


def stem_of(key: str) -> str:
    """The name without its suffix and last number: what several frames of one source share."""
    name = PurePosixPath(key)
    stem = re.sub(r"[\s_.#-]*\d+\W*$", "", name.name.removesuffix(name.suffix))
    return str(name.with_name(stem)) if stem else str(name.parent)


def look_alikes_as_one(audit: Audit, inferred: Mapping[str, str]) -> Evidence:
    """Evidence where the method counts images that look alike as one."""
    return Evidence(
        check=CHECK,
        verdict="inconclusive",
        detail=f"no groups are known; {count_of(len(inferred), 'images', 'look')} like "
        "another one: such images count once. What comes from one source and looks different is "
        "not known: declare it (Sample.group, -O data.group=...)",
        value=float(len(inferred)),
        n=len(audit.samples),
    )


def neighbours_in_step(
    audit: Audit,
    inferred: Mapping[str, str] | None,
    cues: Sequence[set[str]],
    *,
    trend: int = 0,
    places: Mapping[str, int] | None = None,
) -> float | None:
    """p-value that samples side by side are answered alike; None for too few answers.

    An answer counts by how much it is above the mean of those to the same question, label, feature
    and condition that show the same `cues` (keys of samples): data may be sorted by these.
    Questions that are asked of one sample alone count as the same. Samples of one `inferred` group
    count as one, in the place of the first. Answers are compared with a polynomial `trend` along
    the data, of this degree in each label. `places` are those of keys in another order.
    """
    # here, since scipy takes a second
    from cuescope_sdk.statistics._order import neighbour_p_value

    groups = inferred or {}
    samples = {sample.key: sample for sample in audit.samples}
    place = places or {key: index for index, key in enumerate(samples)}
    first: dict[str, int] = {}  # of a group
    for name, index in place.items():
        first.setdefault(groups.get(name, name), index)
    rows = []
    codes: dict[object, int] = {}
    # a question of one sample alone has no other answer to be compared with
    asked = {
        outcome.trial.sample.key: outcome.trial.sample for outcome in audit.outcomes
    }
    asked_of = Counter(sample.question for sample in asked.values())
    for outcome in audit.outcomes:
        trial = outcome.trial
        key = root(trial.sample.key, place)
        value = _first_answer(outcome)
        if key is None or trial.edit is not None or value is None:
            continue
        label = samples[key].label
        shown = tuple(key in of_cue for of_cue in cues)
        asked_again = (
            trial.sample.question if asked_of[trial.sample.question] > 1 else ""
        )
        alike = (asked_again, label, trial.feature, trial.condition, shown)
        cell = codes.setdefault(alike, len(codes))
        rows.append((first[groups.get(key, key)], cell, value))
    if len({index for index, _, _ in rows}) < JUDGED:
        return None
    table = np.array(rows, dtype=float)
    counted, cells = table[:, :2].astype(int).T
    values = table[:, 2]
    expected = np.bincount(cells, values) / np.bincount(cells)
    surplus = np.bincount(counted, values - expected[cells])
    times = np.bincount(counted)
    judged = np.flatnonzero(times)
    label_at = {index: str(samples[name].label) for name, index in place.items()}
    labels = [label_at[number] for number in judged.tolist()]
    _, stratum = np.unique(labels, return_inverse=True)
    mean = surplus[judged] / times[judged]
    return neighbour_p_value(mean, stratum, audit.rng(CHECK, "order"), trend=trend)


def _first_answer(outcome: Outcome) -> float | None:
    """1 for a right answer, or where no label is known, the first choice; None for free words."""
    sample = outcome.trial.sample
    if sample.label is not None:
        return float(outcome.correct())
    # a question of the method's own, such as "Is there a tree?"
    return float(outcome.prediction == sample.choices[0]) if sample.choices else None


def look_alikes(audit: Audit) -> Evidence:
    """Check if samples of which no groups are known look alike."""
    total = count_in_words(len(audit.samples), "sample")
    near = compare(audit)
    same = same_source(audit.samples, plain=near.plain)
    alike = near
    words = "look nearly alike"
    if same.matters:
        alike = same
        words = "show what another shows"
    some = f"{len(alike.samples):,} of {alike.compared:,} samples {words}"
    if alike.samples:
        some += f" (such as {' and '.join(alike.samples[:2])})"
    if alike.matters:
        detail = (
            f"{some}. If they come from one video or scene, {REMEDY}: p-values and intervals are "
            "too small otherwise."
        )
    else:
        detail = (
            f"Not known: nothing says or shows what of the {total} was drawn together"
        )
        detail += f"; {some}." if alike.compared else "; too few were there to compare."
        if alike.compared and alike.plain:
            detail += (
                " The images are so plain that only neighbours in order were compared."
            )
    return Evidence(
        check=CHECK,
        verdict="refuted" if alike.matters else "inconclusive",
        detail=detail,
        value=alike.share if alike.compared else None,
        threshold=ALIKE,
        n=alike.compared,
        doubt=DOUBT if alike.matters else None,
    )


def same_source(samples: Sequence[Sample], *, plain: bool) -> Alike:
    """The samples that show a file which another one shows, or, unless `plain`, the same frames."""
    by_source: dict[object, list[str]] = {}
    for sample in samples:
        by_source.setdefault(_source(sample, plain=plain), []).append(sample.key)
    shared: list[str] = []
    for keys in by_source.values():
        if len(keys) > 1:
            shared += keys
    return Alike(len(samples), tuple(shared), plain)


def _source(sample: Sample, *, plain: bool) -> object:
    """Name the source that two samples drawn independently do not share."""
    if not sample.frames:
        return sample.key
    source = sample.frames[0].source
    if source is not None and (plain or source.count > 1):
        return source.path
    return sample.key if plain else tuple(frame.key for frame in sample.frames)


def compare(audit: Audit) -> Alike:
    """The samples that look like another one, of some that are drawn in runs of neighbours."""
    data: Dataset | tuple[Sample, ...] = audit.samples
    whole = audit.context.dataset
    if whole is not None and len(whole) > len(data):  # a limit leaves out neighbours
        data = whole
    rng = audit.rng(CHECK)
    most = CLIPS_COMPARED if _is_clip(data[0]) else COMPARED
    # by audits of files alone
    from cuescope_sdk.data._look_alikes import RICH, alike_samples, draw_runs

    places = draw_runs(len(data), most, rng)
    samples = [data[place] for place in places]
    labels = [
        str(sample.label) if sample.label in audit.labels else "" for sample in samples
    ]
    alike = alike_samples(samples, places, labels, rng)
    keys = dict.fromkeys(samples[row].key for row in chain.from_iterable(alike.pairs))
    return Alike(alike.compared, tuple(keys), plain=alike.median < RICH)


def _is_clip(sample: Sample) -> bool:
    source = sample.frames[0].source if sample.frames else None
    return source is not None and source.count > 1
