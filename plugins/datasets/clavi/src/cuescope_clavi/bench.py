"""`cuescope dev bench clavi`: figures 6 and 7, table 13, appendix B.4, and the clips as files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from cuescope_clavi import Clavi, count_types
from cuescope_clavi.clips import write_clips
from cuescope_clavi.options import ClaviOptions
from cuescope_clavi.samples import Entry
from cuescope_clavi.segments import Action
from cuescope_sdk import Cell, HasBenchmark, Names, Picture, Plugin, Table, UserError
from cuescope_sdk.data import Videos
from cuescope_sdk.report import bar_chart

MOST_BARS = 25
BINS = 10
# Appendix B.4: mean, standard deviation, least and most, in seconds.
PAPER: tuple[tuple[Cell, ...], ...] = (
    ("actions", 7.7, 3.42, 4.0, 36.0),
    ("videos", 19.95, 7.34, 8.67, 65.73),
)
PAPER_CLASSES = {"action classes": 141, "nouns": 37, "verbs": 28}
# Table 13: thousands of questions about a video.
PAPER_SIZES = {
    "MSRVTT-QA": 243.0,
    "ActivityNet-QA": 58.0,
    "Social-IQ QA": 7.5,
    "NExT-QA": 52.0,
    "iVQA": 10.0,
    "STAR": 60.0,
    "EgoTaskQA": 40.0,
    "FIBER": 28.0,
    "NewsQA": 8.6,
    "CLAVI": 114.0,
}


SPLITS = ("train", "val", "test")  # counted together, as in table 13


class ClaviBenchOptions(ClaviOptions):
    """`cuescope dev bench clavi --source ./Charades --write ./clips`, else those of `clavi`."""

    argument = None

    write: Path | None = Field(
        None,
        description="folder to write every clip to, with its questions: then -O data.clips=FOLDER",
    )
    sizes: Annotated[tuple[str, ...], Names.plugin()] = Field(
        (),
        description="SPECs of other data sets whose questions are counted beside CLAVI's, such as "
        "msrvtt-qa:./MSRVTT-QA (table 13)",
    )


class ClaviBench(Plugin):
    """Curates CLAVI anew, or reads the published annotation, and shows what it is made of."""

    Options = ClaviBenchOptions
    options: ClaviBenchOptions

    def run(self) -> Iterator[Table | Picture]:
        """Lengths and classes, sizes where they are asked for, then figures 6 and 7."""
        # the bench has options of its own, which a data set refuses
        of_data = self.options.model_dump(include=set(ClaviOptions.model_fields))
        data = Clavi(ClaviOptions(**of_data), self.context)
        if self.options.write is not None:
            self._write(data, self.options.write.expanduser())
        lengths = segment_lengths(data.entries)
        # the paper's figures are of Charades alone
        published = data.benchmark is not None
        yield length_table(lengths, published)
        names = [action.name for action in _actions(data.entries)]
        kinds = count_kinds(names, data.parts if published else {})
        yield class_table(kinds, published)
        if self.options.sizes:
            yield self._sizes(data)
        yield histogram("Figure 6 (a): length of actions", lengths["actions"])
        yield histogram("Figure 6 (b): length of videos", lengths["videos"])
        yield bars("Figure 7 (a): questions of each type", count_types(data.entries))
        for letter, (what, counts) in zip("bcd", kinds.items(), strict=False):
            yield bars(
                f"Figure 7 ({letter}): how often each of the {what} occurs", counts
            )

    def _sizes(self, data: Clavi) -> Table:
        """Table 13: the paper's data sets, and questions of those that are here."""
        # in the order of table 13
        counts = Counter(dict.fromkeys(PAPER_SIZES, 0))
        for name in SPLITS:
            parts = {str(data.benchmark or data.source): data.split(name)}
            for spec in self.options.sizes:
                other = self.context.build("dataset", spec, {"split": name})
                benchmark = other.benchmark if isinstance(other, HasBenchmark) else None
                parts[benchmark or spec] = other
            for title, part in parts.items():
                counts[title] += len(part)
        return Table.of(
            "Sizes of data sets",
            ("data set", "thousand questions"),
            # a data set that is not here has no figure of its own
            [(title, count / 1000 or None) for title, count in counts.items()],
            f"Questions about a video in the splits {', '.join(SPLITS)} together, without those "
            "whose video is missing. In brackets: table 13 of the paper.",
            paper=[
                {"data set": title, "thousand questions": count}
                for title, count in PAPER_SIZES.items()
            ],
        )

    def _write(self, data: Clavi, folder: Path) -> None:
        if data.benchmark is None:
            raise UserError(
                "clavi: option 'write'",
                expected="a Charades folder as source",
                got=data.source,
            )
        root = (data.options.videos or Path(data.options.source)).expanduser()
        names = [entry.video for entry in data.entries]
        # what cannot be read was left out when the data was
        files = Videos.open(root, names, self.context, "clavi").good
        with self.context.progress("clips written", 2 * len(data.entries)) as advance:
            split = str(data.shown_split)
            write_clips(data.entries, files, folder, split, advance)


def _actions(entries: Sequence[Entry]) -> Iterator[Action]:
    """The two actions of each segment."""
    for entry in entries:
        yield entry.segment.first
        yield entry.segment.second


def segment_lengths(entries: Sequence[Entry]) -> dict[str, np.ndarray]:
    """Seconds of the actions, and of the clips that are cut."""
    actions = [action.end - action.start for action in _actions(entries)]
    cuts = np.array([entry.segment.cuts for entry in entries])
    return {"actions": np.array(actions), "videos": cuts[:, -1] - cuts[:, 0]}


def count_kinds(
    names: Sequence[str], parts: Mapping[str, frozenset[str]]
) -> dict[str, Counter[str]]:
    """How often each action class occurs, and each noun and verb where their codes are known."""
    counts = {"action classes": Counter(names)}
    for what, letter in (("nouns", "o"), ("verbs", "v")):
        codes: Counter[str] = Counter()
        for name, count in counts["action classes"].items():
            for code in parts.get(name, ()):
                # o001 or v001 in the authors' mapping; words, where it is missing, are no codes
                if code[0] == letter and code[1:].isdigit():
                    codes[code] += count
        if codes:
            counts[what] = codes
    return counts


def length_table(lengths: Mapping[str, np.ndarray], published: bool) -> Table:
    """Appendix B.4."""
    rows: list[Sequence[Cell]] = []
    for what, values in lengths.items():
        figures = (values.mean(), values.std(), values.min(), values.max())
        rows.append((what, *map(float, figures), len(values)))
    columns = ("length of", "mean", "standard deviation", "least", "most", "n")
    note = "Frames."
    paper: list[dict[str, Cell]] = []
    if published:
        note = "Seconds. In brackets: appendix B.4 of the paper, all splits."
        paper = [dict(zip(columns, cells, strict=False)) for cells in PAPER]
    return Table.of(
        "Length of actions and videos", columns, rows, note, paper=paper, decimals=2
    )


def class_table(kinds: Mapping[str, Counter[str]], published: bool) -> Table:
    """How many classes, nouns and verbs occur."""
    paper: list[dict[str, Cell]] = [
        {"what": what, "different": count} for what, count in PAPER_CLASSES.items()
    ]
    return Table.of(
        "What the questions are about",
        ("what", "different"),
        [(what, len(counts)) for what, counts in kinds.items()],
        paper=paper if published else (),
        decimals=0,
    )


def histogram(title: str, values: np.ndarray) -> Picture:
    """Bars of equal widths."""
    counts, edges = np.histogram(values, BINS)
    bins = [f"{low:.1f} to {high:.1f}" for low, high in pairwise(edges)]
    return _picture(title, dict(zip(bins, counts.tolist(), strict=True)), len(values))


def bars(title: str, counts: Mapping[str, int]) -> Picture:
    """The most frequent first."""
    # ties by name, whatever the order of the data
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = (
        f", the first {MOST_BARS} of {len(ranked)}" if len(ranked) > MOST_BARS else ""
    )
    return _picture(f"{title}{more}", dict(ranked[:MOST_BARS]), sum(counts.values()))


def _picture(title: str, counts: Mapping[str, int], total: int) -> Picture:
    rows = {name: {"share": count / total} for name, count in counts.items()}
    return Picture(
        title=title,
        caption=f"{title}, as shares of {total:,}.",
        image=bar_chart(rows, title, f"share of {total:,}"),
    )
