"""Labels and cues that all, some or none of several models have findings about (TRoVe, app. E)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from cuescope_sdk import Feature, Report, Score, Table, UserError, read_answers
from cuescope_sdk.statistics import common_by_chance, holm, overlap_p_value

SAME = 0.5  # share of the smaller one's frames that two features must have in common
SIGNIFICANT = 0.05
MARK = "\N{BLACK CIRCLE}"


def consensus(
    names: Sequence[str], runs: Sequence[Path], reports: Sequence[Report]
) -> Iterator[Table]:
    """How many labels and which, then the cues, and what chance would give."""
    _refuse_unlike(names, reports)
    yield agreement(reports)
    yield labels_table(names, reports)
    contents = {report.provenance.data.fingerprint for report in reports}
    if len(contents) == 1:
        yield cues_table(names, reports, _groups(runs[0], reports))


def _refuse_unlike(names: Sequence[str], reports: Sequence[Report]) -> None:
    """Raise UserError where findings are not about the same things."""
    first = reports[0].provenance
    for name, report in zip(names, reports, strict=True):
        origin = report.provenance
        method, expected = (o.method.spec.partition(":")[0] for o in (origin, first))
        if method != expected:
            raise UserError(
                f"compare --consensus: {name}",
                expected=f"an audit by {expected}, as {names[0]}",
                got=method,
            )
        if not origin.labels or set(origin.labels) != set(first.labels):
            raise UserError(
                f"compare --consensus: {name}",
                expected=f"the {len(first.labels)} labels of {names[0]}",
                got=f"{len(origin.labels)} labels, {len({*origin.labels} & {*first.labels})} "
                "of them the same",
            )


# --------------------------------------------------------------------------------------- labels


def labels_found(report: Report) -> dict[str, Score]:
    """The strongest finding about each label that has any."""
    found: dict[str, Score] = {}
    for score in report.findings:
        if score.label is not None:
            found.setdefault(score.label, score)
    return found


def agreement(reports: Sequence[Report]) -> Table:
    """Labels with a finding in all, some, none of the runs, beside what chance would give."""
    total = len(reports[0].provenance.labels)
    found = [labels_found(report).keys() for report in reports]
    in_all = len(set.intersection(*map(set, found)))
    in_none = total - len(set.union(*map(set, found)))
    sizes = [len(of_run) for of_run in found]
    chance_all = common_by_chance(total, sizes)
    chance_none = common_by_chance(total, [total - size for size in sizes])
    counts = np.arange(total + 1)
    expected = [float(chance @ counts) for chance in (chance_all, chance_none)]
    rows = (
        ("all", in_all, expected[0], min(float(chance_all[in_all:].sum()), 1.0)),
        ("some", total - in_all - in_none, total - sum(expected), None),
        ("none", in_none, expected[1], min(float(chance_none[in_none:].sum()), 1.0)),
    )
    return Table(
        title=f"Labels with a finding, over {len(reports)} runs and {total} labels",
        columns=("found by", "labels", "by chance", "p"),
        rows=tuple(
            {
                "found by": who,
                "labels": n,
                "by chance": chance,
                "p": None if p is None else min(p, 1),
            }
            for who, n, chance, p in rows
        ),
        notes=(
            "By chance: each run has as many labels with a finding as it has, drawn at random and "
            "apart from the others' (exact, a chain of hypergeometric draws); p is one-sided, for "
            "so many or more. Labels that are hard or rare for every model raise agreement too: "
            "more than chance does not say that the models share a cue.",
        ),
    )


def labels_table(names: Sequence[str], reports: Sequence[Report]) -> Table:
    """Which labels: found by most first, then by the mean of their strongest findings."""
    found = [labels_found(report) for report in reports]
    about = {
        label: [of_run.get(label) for of_run in found] for label in reports[0].provenance.labels
    }

    def rank(label: str) -> tuple[int, float]:
        values = [score.value or 0.0 for score in about[label] if score is not None]
        return -len(values), -(sum(values) / len(values) if values else 0.0)

    ranked = sorted((label for label in about if any(about[label])), key=rank)
    rows = tuple(
        {
            "label": label,
            "runs": f"{sum(score is not None for score in about[label])} of {len(reports)}",
            **{
                name: None if score is None else report.names[score.feature]
                for name, report, score in zip(names, reports, about[label], strict=True)
            },
        }
        for label in ranked
    )
    none = [label for label in about if label not in ranked]
    shown = ": " * bool(none) + ", ".join(none[:20]) + " ..." * (len(none) > 20)
    return Table(
        title="Labels, and the cue of the strongest finding in each run",
        columns=("label", "runs", *names),
        rows=rows,
        notes=(
            f"No run has a finding about {len(none)} labels" + (f": {shown}." if none else "."),
        ),
    )


# ----------------------------------------------------------------------------------------- cues


@dataclass(frozen=True)
class Found:
    """A feature with findings in one run: its frames, the groups that show it, its labels."""

    run: int
    name: str | None
    frames: frozenset[tuple[str, int | None]]
    groups: frozenset[str]
    labels: tuple[str, ...]
    title: str


def cues_table(
    names: Sequence[str], reports: Sequence[Report], group_of: Mapping[str, str]
) -> Table:
    """Findings of several runs that are one cue: by name, or by the frames that they share."""
    found = [item for n, report in enumerate(reports) for item in _found(n, report, group_of)]
    cues = sorted(same_cues(found, sorted(set(group_of.values()))), key=_most_runs_first)
    frames = len({frame for item in found for frame in item.frames}) or 1
    rows = []
    for cue in cues:
        row: dict[str, str | float | None] = {
            "cue": " / ".join(dict.fromkeys(item.title for item in cue)),
            "labels": ", ".join(sorted({label for item in cue for label in item.labels})),
            "runs": f"{len({item.run for item in cue})} of {len(reports)}",
        }
        row |= {
            name: MARK if any(item.run == n for item in cue) else None
            for n, name in enumerate(names)
        }
        pairs = [(a, b) for a, b in combinations(cue, 2) if a.run != b.run]
        row["shared"] = float(np.mean([overlap(*pair) for pair in pairs])) if pairs else None
        larger = [max(len(a.frames), len(b.frames)) / frames for a, b in pairs]
        row["by chance"] = float(np.mean(larger)) if pairs else None
        rows.append(row)
    return Table(
        title="Cues that findings are about",
        columns=("cue", "labels", "runs", *names, "shared", "by chance"),
        rows=tuple(rows),
        notes=(
            f"Findings are one cue where a check gave both the same name, or where {SAME:.0%} of "
            "the smaller one's frames are in both and their groups of samples meet more often "
            "than by chance (Fisher's exact test, Holm's correction over all pairs). Shared: that "
            "share; by chance: what it would be for frames drawn at random.",
        ),
    )


def _found(run: int, report: Report, group_of: Mapping[str, str]) -> Iterator[Found]:
    labels: dict[str, list[str]] = {}
    for score in report.findings:
        labels.setdefault(score.feature, []).append(score.label or "all")
    own = {e.feature: e.name for e in report.evidence if e.feature and e.name}
    for feature in report.features:
        if feature.key in labels:
            title = report.names[feature.key]
            name = own.get(feature.key) or feature.name
            frames = frozenset((o.sample, o.frame) for o in feature.occurrences)
            groups = frozenset(group_of.get(sample, sample) for sample, _ in frames)
            yield Found(run, name, frames, groups, tuple(labels[feature.key]), title)


def overlap(first: Found, second: Found) -> float:
    """Share of the smaller one's frames that are in both."""
    smaller = min(len(first.frames), len(second.frames))
    return len(first.frames & second.frames) / smaller if smaller else 0.0


def same_cues(found: Sequence[Found], groups: Sequence[str]) -> list[list[Found]]:
    """Findings joined where they are the same cue, directly or through others."""
    pairs = [(a, b) for a, b in combinations(range(len(found)), 2) if found[a].run != found[b].run]
    shows = np.array([[group in item.groups for group in groups] for item in found], dtype=bool)
    p_values = holm([overlap_p_value(shows[a], shows[b]) for a, b in pairs])
    parent = list(range(len(found)))

    def root(item: int) -> int:
        while parent[item] != item:
            item = parent[item]
        return item

    for (a, b), p in zip(pairs, p_values, strict=True):
        named = found[a].name is not None and found[a].name == found[b].name
        meets = overlap(found[a], found[b]) >= SAME and p is not None and p <= SIGNIFICANT
        if named or meets:
            parent[root(b)] = root(a)
    joined: dict[int, list[Found]] = {}
    for item in range(len(found)):
        joined.setdefault(root(item), []).append(found[item])
    return list(joined.values())


def _most_runs_first(cue: Sequence[Found]) -> tuple[int, str]:
    return -len({item.run for item in cue}), cue[0].title


def _groups(run: Path, reports: Sequence[Report]) -> dict[str, str]:
    """Sample -> its group, itself where the run kept no answers."""
    features: list[Feature] = [feature for report in reports for feature in report.features]
    samples = {occurrence.sample for feature in features for occurrence in feature.occurrences}
    try:
        rows = read_answers(run).to_pylist()
    except UserError:
        rows = []
    known = {row["sample"]: row["group"] or row["sample"] for row in rows}
    return {sample: known.get(sample, sample) for sample in samples}
