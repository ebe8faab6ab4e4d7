"""Check that data can give a finding: before the first question, with how many would do."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from cuescope_core.amounts import count_of
from cuescope_core.building import find_tools
from cuescope_core.capabilities import ROLES
from cuescope_sdk import Audit, DataNeeds, Sample, UserError
from cuescope_sdk.data._annotation_types import annotation_faults, describe

LOOKED_AT = 12  # samples whose annotations are looked at
NOTE = "weak data"


@dataclass(frozen=True)
class Shortage:
    """Shortage of data for a method, and how grave it is.

    "fatal": it cannot work, so nothing should be asked; "blind": it runs, and cannot have a
    finding; "weak": only strong cues are found. Whether more samples of the same kind mend it is
    `by_more`.
    """

    problem: str
    expected: str
    got: str
    remedy: str
    gravity: Literal["fatal", "blind", "weak"] = "weak"
    by_more: bool = False

    @property
    def line(self) -> str:
        """All of it, in one line."""
        return (
            f"{self.problem}: expected {self.expected}, got {self.got}. {self.remedy}"
        )


@dataclass(frozen=True)
class DataProfile:
    """Profile of samples, made without asking a model.

    `counts` has how many were drawn independently (groups, or samples without one) for each label,
    for each object that is annotated, else each label, and of all together, by `DataNeeds.each`.
    `annotated` names the annotations that some sample has. `faults` are of those that are not what
    methods read: what is expected, and what came in which sample.
    """

    samples: int
    counts: dict[str, Counter[str]]
    choices: int
    questions: int
    has_clips: bool
    annotated: frozenset[str]
    faults: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "DataProfile":
        """The profile of samples."""
        sources = set[str]()
        labels = set[tuple[str, str]]()
        objects = set[tuple[str, str]]()
        annotated = set[str]()
        for sample in samples:
            # a key never ends in "/", so no group is taken for a sample
            source = f"{sample.key}/" if sample.group is None else sample.group
            # what was drawn by itself is counted: ten clips of one video are not ten proofs
            sources.add(source)
            names = [] if sample.label is None else [sample.label]
            labels.update((label, source) for label in names)
            objects.update(
                (name, source) for name in sample.annotations.get("objects", names)
            )
            annotated.update(
                k for k, value in sample.annotations.items() if value is not None
            )
        return cls(
            samples=len(samples),
            counts={
                "label": Counter(label for label, _ in sorted(labels)),
                "object": Counter(name for name, _ in sorted(objects)),
                "data set": Counter({"": len(sources)}),
            },
            choices=max((len(sample.choices) for sample in samples), default=0),
            questions=sum(sample.question is not None for sample in samples),
            # the key of a film's frame has its place in the film
            has_clips=any(len({f.key for f in s.frames}) > 1 for s in samples),
            annotated=frozenset(annotated),
            faults=find_faults(samples),
        )


def find_faults(samples: Sequence[Sample]) -> dict[str, tuple[str, str]]:
    """The annotations that are of another type or size than methods read, of some samples."""
    faults: dict[str, tuple[str, str]] = {}
    for sample in _spread(samples):
        for key, expected in annotation_faults(sample).items():
            got = f"{describe(sample.annotations[key])} in sample '{sample.key}'"
            faults.setdefault(key, (expected, got))
    return faults


def _spread(samples: Sequence[Sample]) -> list[Sample]:
    """`LOOKED_AT` of them, the first and the last too."""
    places = np.linspace(0, len(samples) - 1, min(LOOKED_AT, len(samples)))
    return [samples[index] for index in np.unique(places.astype(int))]


def require_data(audit: Audit, needs: DataNeeds, method: str) -> None:
    """Refuse data that cannot give a finding, and warn of data that hardly can.

    The first line of a method's `propose_features`. Raises UserError with how many samples would
    do; what is weak is announced, and noted in the report.
    """
    whole = audit.context.dataset
    weak = []
    for shortage in find_shortages(
        needs, DataProfile.of(audit.samples), audit.tools, method
    ):
        if whole is not None and shortage.by_more and len(whole) > len(audit.samples):
            remedy = f"{shortage.remedy} {_the_rest(len(audit.samples), len(whole))}"
            shortage = replace(shortage, remedy=remedy)
        # before the first question, with the number that would do (docs/own-data.md)
        if shortage.gravity == "fatal" or _is_refused(shortage, needs, audit.options):
            raise UserError(
                shortage.problem,
                expected=shortage.expected,
                got=shortage.got,
                remedy=shortage.remedy,
            )
        weak.append(shortage.line)
    for line in weak:
        warn_of_weak_data(audit, line)
    role = ROLES.get(needs.annotation.tool or "") if needs.annotation else None
    if weak and role is not None and f"--tool {role.name}=" in weak[-1]:
        # not in the report: that does not depend on what else is installed
        able = find_tools(role, audit.context.registry)
        if able:
            audit.context.announce(f"{role.name}s here: {', '.join(able)}")


def _the_rest(used: int, all_of_them: int) -> str:
    """Why an audit looks at fewer samples than there are: commands that test keep a part back."""
    return (
        f"It looks at {used:,} of {all_of_them:,} samples: the others are left out by --limit or "
        "--part, or are kept to test what is found."
    )


def _is_refused(shortage: Shortage, needs: DataNeeds, options: object) -> bool:
    """True if nothing can be found, and nobody asks for what there is without findings."""
    unless = needs.annotation.unless if needs.annotation else None
    if shortage.gravity != "blind" or unless is None:
        return False
    return not getattr(options, unless, False)


def warn_of_weak_data(audit: Audit, line: str) -> None:
    """Say before the first question what the data cannot show, and note it in the report."""
    # by this word the command line holds the line back until the model is at work
    audit.context.announce(f"warning: {line}")
    before = audit.notes.get(NOTE)
    audit.note(NOTE, f"{before} {line}" if before else line)


def _of_names(profile: DataProfile, method: str) -> Iterator[Shortage]:
    """Labels that are one name, written in two ways: each would be a class of its own."""
    # answers to questions are written in many ways, and are no classes
    if profile.questions:
        return
    alike: dict[str, list[str]] = {}
    for label in profile.counts["label"]:
        alike.setdefault(" ".join(label.casefold().split()), []).append(label)
    for names in alike.values():
        if len(names) > 1:
            yield Shortage(
                f"{method}: labels differ in capitals or blanks alone",
                expected="one name for each class",
                got=" and ".join(map(repr, names)),
                remedy="They count as classes of their own. Write them alike.",
            )


def find_shortages(
    needs: DataNeeds,
    profile: DataProfile,
    tools: Collection[str],
    method: str,
) -> Iterator[Shortage]:
    """Find what the data lack for a method that has such tools, fatal lacks first."""
    if needs.questions and not profile.questions:
        yield Shortage(
            f"{method}: there is nothing to ask",
            expected="samples with a question",
            got="none",
            remedy="Take data with questions, such as moving-shapes:none -O "
            "data.questions=both, or "
            "give your own a column 'question' in a manifest",
            gravity="fatal",
        )
    if needs.choices > 0 and profile.choices < needs.choices:
        yield Shortage(
            f"{method}: the model has nothing to choose from",
            expected=f"{count_of(needs.choices, 'labels')} or more",
            got=f"{profile.choices}",
            remedy="Add samples of another label, or name the labels (folder: -O "
            "data.choices=cat,dog).",
            gravity="fatal",
        )
    yield from _of_names(profile, method)
    annotation = needs.annotation
    for key, (expected, got) in profile.faults.items():
        is_needed = annotation is not None and annotation.key == key
        yield Shortage(
            f"{method}: annotations['{key}'] is not what methods read",
            expected=expected,
            got=got,
            remedy="See docs/own-data.md; what is something else needs another key.",
            gravity="fatal" if is_needed else "weak",
        )
    yield from _of_numbers(needs, profile, method)
    if needs.clips and not profile.has_clips:
        yield Shortage(
            f"{method}: nothing changes over time in these samples",
            expected="clips that move",
            got="single frames",
            remedy="The audit runs, and does not show whether the model looks at time.",
        )
    if (
        annotation is not None
        and annotation.key not in profile.annotated
        and annotation.tool not in tools
    ):
        tool = f", or add --tool {annotation.tool}=SPEC" if annotation.tool else ""
        without = "Without it the audit runs, but cannot find anything."
        if annotation.unless is not None:
            without = f"-O {annotation.unless}=true goes on without findings."
        yield Shortage(
            f"{method}: nothing can be found in these samples",
            expected=annotation.name,
            got="none",
            remedy=f"{annotation.how}{tool}. {without}",
            gravity="blind",
        )


def _of_numbers(
    needs: DataNeeds,
    profile: DataProfile,
    method: str,
) -> Iterator[Shortage]:
    # nothing is labelled
    counts = profile.counts[needs.each] or profile.counts["data set"]
    name, most = counts.most_common(1)[0]
    typical = sorted(counts.values())[len(counts) // 2]
    of_one = f" of '{name}', the most frequent {needs.each}" if name else ""
    each = f" of each {needs.each}" if name else ""
    enough = f"About {needs.enough:,}{each} find {needs.enough_for}."
    drawn = "independent samples"
    sources = profile.counts["data set"].total()
    of_groups = (
        f" ({count_of(profile.samples, 'samples')} of {sources:,} "
        f"group{'s' * (sources > 1)})"
    )
    of_groups *= sources < profile.samples
    if most < needs.least:
        yield Shortage(
            f"{method}: too few samples for any finding",
            expected=f"at least {needs.least} {drawn}{each}",
            got=f"{most}{of_one}{of_groups}",
            remedy=enough,
            gravity="fatal",
            by_more=True,
        )
    elif typical < needs.enough:
        yield Shortage(
            f"{method}: few samples, so only strong cues can be found",
            expected=f"about {needs.enough:,} {drawn}{each}",
            got=f"{typical:,}"
            + f" of the typical {needs.each}" * bool(name)
            + of_groups,
            remedy=f"{enough} Go on, or add data.",
            by_more=True,
        )
