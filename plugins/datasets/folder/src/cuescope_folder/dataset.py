"""Files with what is known of them -> a data set, wherever they were found."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Self

from cuescope_folder.answers import (
    answer_facts,
    common_choices,
    one_spelling,
    shared_choices,
    shorten_list,
)
from cuescope_folder.copies import require_unchanged_copies
from cuescope_folder.grouping import group_facts, group_items
from cuescope_folder.layout import Item, canonical_split
from cuescope_folder.manifest import ManifestItems
from cuescope_folder.options import SampleOptions
from cuescope_folder.regions import as_shown
from cuescope_folder.samples import (
    contradictions,
    losses,
    needed_files,
    read_samples,
    with_mask,
)
from cuescope_sdk import (
    BadDataError,
    Context,
    Frame,
    PlantedCue,
    Plugin,
    Sample,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.data import Unread, probe_all


@dataclass(frozen=True)
class Found:
    """The items, the `rows` they stand in, what was passed over, and more of that in words."""

    root: Path
    items: list[Item]
    unread: Unread
    facts: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  # all that there are, where that is known
    rows: ManifestItems | None = None
    marks: tuple[str, ...] = ()  # of where they are from, in the fingerprint


class FileSamples(Plugin):
    """One sample a file, frame folder, or row of a table.

    The group of a sample is what the option `group` or the table's column says; where several
    rows are about one file, it is the file; else there is none. Every file is probed once; what
    cannot be read is named in `facts` and left out. Raises UserError for options or data that
    cannot be used, and BadDataError when more than `max_bad` of the samples cannot be read.
    """

    options: SampleOptions

    def __init__(self, options: SampleOptions, context: Context) -> None:
        super().__init__(options, context)
        found = self.find()
        unread = found.unread
        passed_over = dict(found.facts)
        every = one_spelling(found.items, options.choices)
        grouping = group_items(every, options.group, found.rows)
        choices = options.choices
        # not for open answers: choices beside them are refused
        if choices is None and found.labels and options.answers != "open":
            choices = found.labels
        common = common_choices(every, choices, options.answers, found.root)
        # Before the split is taken: labels and answers are those of all splits.
        self.labels = shared_choices(every, common)
        groups = [item.group for item in every] if grouping is None else grouping.groups
        of_split = in_split(every, options.split)
        drawn = context.draw([groups[number] for number in of_split])
        chosen = [of_split[number] for number in drawn]
        items = [replace(every[number], group=groups[number]) for number in chosen]
        if found.rows is not None:
            items, located = found.rows.locate(items)
            passed_over |= located
        if len(chosen) < len(of_split):
            passed_over["drawn"] = (
                f"{len(chosen):,} of {len(of_split):,}; no file of the others is opened"
            )
        files: list[Path] = []
        for item in items:
            files += with_mask(item, needed_files(item, options.frames))
        probes = probe_all(files, context)
        items, passed_over["turned"] = as_shown(
            items, probes, options.boxes_in, options.max_bad
        )
        require_unchanged_copies(probes, context)
        self._samples, problems = read_samples(items, probes, options.frames, common)
        refuse_bad_data(problems, len(items), options.max_bad)
        if problems:
            unread.add("damaged", count=len(problems))
        passed_over["left out"] = unread.in_words()
        passed_over["not whole"] = shorten_list(losses(items, probes), separator="; ")
        passed_over["contradictions"] = shorten_list(
            contradictions(self._samples),
            separator="; ",
        )
        # an empty fact would be a line that says nothing
        passed_over = {name: words for name, words in passed_over.items() if words}
        self.facts = (
            _facts(self._samples, problems) | passed_over | answer_facts(items, common)
        )
        cues: dict[str, None] = {}  # a dict keeps their order
        keys = set()
        contents = []
        for sample in self._samples:
            cues |= dict.fromkeys(sample.annotations.get("cues", {}))
            keys.add(sample.key)
            contents.append(_content(sample, self.labels))
        # groups of what can be read: items left out are in no test
        shown = [item for item in items if item.key in keys]
        if grouping is not None:
            self.facts |= group_facts(grouping, every, shown)
        self.planted_cues = tuple(PlantedCue(key=cue, name=cue) for cue in cues)
        self.fingerprint = digest(self.labels, contents, *found.marks)

    @abstractmethod
    def find(self) -> Found:
        """What there is, before any image is opened; raises UserError where it cannot be read."""

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Sample:
        return self._samples[index]

    def split(self, name: str) -> Self:
        """The same data, showing another split; raises UserError where there is no such split."""
        return self.with_options(split=name)


def in_split(items: Sequence[Item], wanted: str | None) -> Sequence[int]:
    """The numbers of the items of a split (aliases such as "validation" are understood), or all."""
    if wanted is None:
        return range(len(items))
    split = canonical_split(wanted)
    of_split = [number for number, item in enumerate(items) if item.split == split]
    if of_split:
        return of_split
    problem = f"folder: no split '{wanted}'"
    splits = sorted({item.split for item in items if item.split})
    if splits:
        raise UserError(
            problem,
            expected=f"one of {', '.join(splits)}",
            remedy=nearest(wanted, splits),
        )
    raise UserError(
        problem,
        remedy="The data has no splits: use PATH/train/CLASS folders or a 'split' column",
    )


def refuse_bad_data(problems: Sequence[str], items: int, max_bad: float) -> None:
    """Raise BadDataError where more than `max_bad` of the items cannot be read, or all of them."""
    # all of them damaged is refused, whatever max_bad allows
    if not problems or (len(problems) <= max_bad * items and len(problems) < items):
        return
    share = len(problems) / items
    # The offered share is rounded up, so that taking it is enough.
    accept = (
        f", or accept them with -O data.max_bad={ceil(100 * share) / 100}"
        if share < 1
        else ""
    )
    raise BadDataError(
        f"folder: {len(problems)} of {items} samples cannot be read",
        expected=f"at most {max_bad:.1%}",
        got=shorten_list(problems, separator="; "),
        remedy=f"Mend or remove them{accept}",
    )


def _content(sample: Sample, labels: tuple[str, ...]) -> tuple[object, ...]:
    annotations = sample.annotations
    # by content: where a mask lies on the disk is no part of the data
    if any(isinstance(value, Frame) for value in annotations.values()):
        annotations = {
            name: value.key if isinstance(value, Frame) else value
            for name, value in annotations.items()
        }
    content: list[object] = [
        sample.key,
        sample.label,
        sample.question,
        [frame.key for frame in sample.frames],
        annotations,
    ]
    # Choices that are the labels are digested once, with these.
    if sample.choices != labels:
        content.append(sample.choices)
    if sample.group is not None:
        content += ["group", sample.group]
    return tuple(content)


def _facts(
    samples: Sequence[Sample],
    problems: Sequence[str],
) -> dict[str, str]:
    clips = sum(len(sample.frames) > 1 for sample in samples)
    counts = []
    for kind, count in (("clip", clips), ("image", len(samples) - clips)):
        if count:
            counts.append(f"{count} {kind}{'s' * (count != 1)}")
    facts = {"files": ", ".join(counts), "skipped": "none"}
    if problems:
        facts["skipped"] = (
            f"{len(problems)} unreadable: {shorten_list(problems, separator='; ')}"
        )
    return facts
