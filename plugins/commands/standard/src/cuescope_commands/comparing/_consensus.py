"""Labels and cues that all, some or none of several models have findings about (TRoVe, app. E)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from cuescope_commands.comparing._runs import Run, Runs, names_of
from cuescope_sdk import Portrait, Table, UserError
from cuescope_sdk.report import count_of
from cuescope_sdk.statistics import Overlap, holm

SAME = 0.5  # share of the smaller one's frames that two features must have in common
SIGNIFICANT = 0.05
MARK = "\N{BLACK CIRCLE}"
MOST_LABELS = 20  # without a finding, by name


def consensus_tables(runs: Runs) -> Iterator[Table]:
    """How many labels and which, then the cues, and what chance would give."""
    contents = set()
    for run in runs:
        _refuse_unlike(run, runs[0])
        contents.add(run.report.provenance.data.fingerprint)
    yield agreement(runs)
    yield labels_table(runs)
    # a frame of other data is another frame
    if len(contents) == 1:
        yield cues_table(runs)


def _refuse_unlike(run: Run, first: Run) -> None:
    """Raise UserError where findings are not about the same things."""
    subject = f"compare --consensus: {run.name}"
    if run.method != first.method:
        audit = f"an audit by {first.method}, as {first.name}"
        raise UserError(subject, expected=audit, got=run.method)
    expected = set(first.labels)
    if not run.labels or set(run.labels) != expected:
        common = len(expected.intersection(run.labels))
        raise UserError(
            subject,
            expected=f"the {len(expected)} labels of {first.name}",
            got=f"{count_of(len(run.labels), 'labels')}, {common} of them the same",
        )


# --------------------------------------------------------------------------------------- labels


def agreement(runs: Runs) -> Table:
    """Labels with a finding in all, some, none of the runs, beside what chance would give."""
    total = len(runs[0].labels)
    labels = [set(run.strongest) for run in runs]
    with_finding = list(map(len, labels))
    without = [total - size for size in with_finding]
    in_all = len(set.intersection(*labels))
    in_none = total - len(set.union(*labels))
    all_row = _agreement_row("all", in_all, total, with_finding)
    none_row = _agreement_row("none", in_none, total, without)
    some_row = {
        "found by": "some",
        "labels": total - in_all - in_none,
        # what is left, so that the rows add up to all labels
        "by chance": total - (all_row["by chance"] + none_row["by chance"]),
        "p": None,
    }
    return Table(
        title=f"Labels with a finding, over {count_of(len(runs), 'runs')} and "
        f"{count_of(total, 'labels')}",
        columns=("found by", "labels", "by chance", "p"),
        rows=(all_row, some_row, none_row),
        notes=(
            "By chance: each run has as many labels with a finding as it has, drawn at random and "
            "apart from the others' (exact, a chain of hypergeometric draws); p is one-sided, for "
            "so many or more. Labels that are hard or rare for every model raise agreement too: "
            "more than chance does not say that the models share a cue.",
        ),
    )


def _agreement_row(
    who: str,
    count: int,
    total: int,
    sizes: Sequence[int],
) -> dict[str, Any]:
    chances = Overlap.chances(total, sizes)
    return {
        "found by": who,
        "labels": count,
        "by chance": float(chances @ np.arange(total + 1)),
        # sums of rounded chances may be a little above 1
        "p": min(float(chances[count:].sum()), 1.0),
    }


def labels_table(runs: Runs) -> Table:
    """Which labels: found by most first, then by the mean of their strongest findings."""
    rows = []
    missed = []
    for label in runs[0].labels:
        row: dict[str, str | None] = {"label": label}
        values = []
        for run in runs:
            score = run.strongest.get(label)
            row[run.name] = run.cue_names[score.feature] if score else None
            if score:
                values.append(score.value or 0.0)
        row["runs"] = f"{len(values)} of {len(runs)}"
        if values:
            rank = (len(values), sum(values) / len(values))
            rows.append((rank, row))
        else:
            missed.append(label)
    rows.sort(key=itemgetter(0), reverse=True)
    named = ", ".join(missed[:MOST_LABELS])
    more = " ..." if len(missed) > MOST_LABELS else ""
    ending = f": {named}{more}." if missed else "."
    return Table(
        title="Labels, and the cue of the strongest finding in each run",
        columns=("label", "runs", *names_of(runs)),
        rows=tuple(row for _, row in rows),
        notes=(f"No run has a finding about {len(missed)} labels{ending}",),
    )


# ----------------------------------------------------------------------------------------- cues


@dataclass(frozen=True)
class Cue:
    """A feature with findings in one run: its frames, the groups that show it, its labels.

    `guess` is what its pictures say of it, and where.
    """

    run: Run
    name: str | None
    frames: frozenset[tuple[str, int | None]]
    groups: frozenset[str]
    labels: list[str]
    title: str
    guess: tuple[str, str] | None = None

    def looks_like(self, other: "Cue") -> bool:
        """Whether pixels say the same of both, about a label that both are about."""
        if self.guess is None or self.guess != other.guess:
            return False
        return bool(set(self.labels) & set(other.labels))


def cues_table(runs: Runs) -> Table:
    """Findings of several runs that are one cue: by name, or by the frames that they share."""
    groups = _groups(runs)
    cues: list[Cue] = []
    for run in runs:
        cues += _cues(run, groups)
    frames = frozenset().union(*(cue.frames for cue in cues))
    joined = same_cues(cues, sorted(set(groups.values())))
    # found by most runs first
    joined.sort(key=lambda same: (-len(_runs_of(same)), same[0].title))
    return Table(
        title="Cues that findings are about",
        columns=("cue", "labels", "runs", *names_of(runs), "shared", "by chance"),
        rows=tuple(_cue_row(same, runs, len(frames)) for same in joined),
        notes=(
            f"Findings are one cue where a check gave both the same name, or where {SAME:.0%} of "
            "the smaller one's frames are in both and their groups of samples meet more often "
            "than by chance (Fisher's exact test, Holm's correction over all pairs), or where "
            "their pictures have the same place and words and they are about the same label. "
            "Shared: that "
            "share; by chance: what it would be for frames drawn at random.",
        ),
    )


def _runs_of(same: Sequence[Cue]) -> set[Run]:
    return {cue.run for cue in same}


def _cue_row(same: Sequence[Cue], runs: Runs, frames: int) -> dict[str, Any]:
    """The cue that findings share; `frames` is how many those of all cues are."""
    found_by = _runs_of(same)
    labels = set(chain.from_iterable(cue.labels for cue in same))
    row: dict[str, Any] = {
        "cue": " / ".join(dict.fromkeys(cue.title for cue in same)),
        "labels": ", ".join(sorted(labels)),
        "runs": f"{len(found_by)} of {len(runs)}",
    }
    for run in runs:
        row[run.name] = MARK if run in found_by else None
    shares = []
    for first, second in combinations(same, 2):
        # two findings of one run agree on nothing
        if first.run is not second.run:
            # a random part of all frames lies in the larger cue by this share
            most = max(len(first.frames), len(second.frames))
            shares.append((overlap(first, second), most / max(frames, 1)))
    row |= {"shared": None, "by chance": None}
    if shares:
        row["shared"], row["by chance"] = np.mean(shares, axis=0).tolist()
    return row


def _cues(run: Run, group_of: Mapping[str, str]) -> Iterator[Cue]:
    report = run.report
    labels = defaultdict[str, list[str]](list)
    for score in report.findings:
        labels[score.feature].append(score.label or "all")
    # a name that a check gave goes before the feature's own
    checked = {check.feature: check.name for check in report.evidence if check.name}
    for feature in report.features:
        if feature.key in labels:
            frames = set()
            groups = set()
            for occurrence in feature.occurrences:
                frames.add((occurrence.sample, occurrence.frame))
                groups.add(group_of[occurrence.sample])
            yield Cue(
                run=run,
                name=checked.get(feature.key, feature.name),
                frames=frozenset(frames),
                groups=frozenset(groups),
                labels=labels[feature.key],
                title=run.cue_names[feature.key],
                guess=_guess(report.portrait_of(feature.key)),
            )


def _guess(portrait: Portrait | None) -> tuple[str, str] | None:
    if portrait is None or portrait.name is None:
        return None
    return portrait.name, portrait.where


def overlap(first: Cue, second: Cue) -> float:
    """Share of the smaller one's frames that are in both."""
    smaller = min(len(first.frames), len(second.frames))
    return len(first.frames & second.frames) / smaller if smaller else 0.0


def same_cues(cues: Sequence[Cue], groups: Sequence[str]) -> list[list[Cue]]:
    """Findings joined where they are the same cue, directly or through others."""
    # by group: frames of one video do not meet independently
    shows = [np.isin(groups, list(cue.groups)) for cue in cues]
    pairs = []
    p_values = []
    for first, second in combinations(range(len(cues)), 2):
        if cues[first].run is not cues[second].run:
            pairs.append((first, second))
            p_values.append(Overlap.p_value(shows[first], shows[second]))
    same = np.zeros((len(cues), len(cues)), dtype=bool)
    for (first, second), p_value in zip(pairs, holm(p_values), strict=True):
        name = cues[first].name
        # a name from a check decides alone, as in investigations
        named = name is not None and name == cues[second].name
        meets = overlap(cues[first], cues[second]) >= SAME and p_value <= SIGNIFICANT
        alike = cues[first].looks_like(cues[second])
        same[first, second] = named or meets or alike
    # not directed: only one half of the matrix is filled
    _, components = connected_components(same, directed=False)
    joined = defaultdict[int, list[Cue]](list)
    for cue, component in zip(cues, components, strict=True):
        joined[component].append(cue)
    return list(joined.values())


def _groups(runs: Runs) -> dict[str, str]:
    """Sample -> its group, itself where the first run kept no answers."""
    groups: dict[str, str] = {}
    for run in runs:
        for feature in run.report.features:
            for occurrence in feature.occurrences:
                groups[occurrence.sample] = occurrence.sample
    with suppress(UserError):
        for row in runs[0].answers:
            if row["sample"] in groups:
                groups[row["sample"]] = row["group"] or row["sample"]
    return groups
