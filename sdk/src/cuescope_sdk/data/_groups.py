"""Which samples were drawn together: by a rule on their names, and in words.

A sample that no rule and no cell gives a group is one of its own, under its key.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from cuescope_core.plain_json import SHOWN
from cuescope_sdk import UserError
from cuescope_sdk.data._media.files import count_in_words, shorten_names

# declares that each sample was drawn by itself
BY_ITSELF = "none"
# columns that name what a row was taken from, as data sets and harnesses spell them (`videoID`,
# `image_path`, lmms-eval's `cluster_key`), without capitals, blanks and underscores
SOURCE_COLUMNS = frozenset(
    (
        *("group", "groupid", "cluster", "clusterid", "clusterkey", "sourceid"),
        *(
            "video",
            "videoid",
            "videoidx",
            "videoname",
            "videopath",
            "videofile",
            "videourl",
        ),
        *("vid", "ytid", "youtubeid", "clip", "clipid", "episode", "episodeid"),
        *(
            "image",
            "imageid",
            "imagepath",
            "imagename",
            "imagefile",
            "imagesource",
            "imageurl",
        ),
        *("img", "imgid", "imgpath", "imgname", "photo", "photoid", "picture"),
        *(
            "patient",
            "patientid",
            "subjectid",
            "participant",
            "participantid",
            "personid",
        ),
        *(
            "sceneid",
            "scenename",
            "document",
            "documentid",
            "docname",
            "page",
            "pageid",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The group of each sample, and the `source` of that, in words.

    `alone` are the samples of which the source says nothing: each is a group of its own.
    """

    groups: Sequence[str]
    source: str
    alone: Collection[str] = ()

    @classmethod
    def of(cls, keys: Sequence[str], groups: Sequence[str | None], source: str) -> Self:
        """A sample without a group is one of its own, under its key."""
        pairs = list(zip(keys, groups, strict=True))
        alone = [key for key, group in pairs if group is None]
        return cls([group or key for key, group in pairs], source, alone)

    @classmethod
    def by_rule(
        cls,
        rule: str,
        keys: Sequence[str],
        names: Sequence[str],
        title: str,
    ) -> Self:
        """Match of the rule's one capturing group in each name.

        `(.*)_clip\\d+` gives "kitchen_clip3.mp4" the group "kitchen". Raises UserError for what
        is no such expression, and where it matches none of the names.
        """
        return cls.of(keys, groups_by_rule(rule, names, title), f"the rule '{rule}'")

    def describe(self, labels: Sequence[str | None]) -> str:
        """How many groups the samples are of, the largest, and those of several labels."""
        groups = self.groups
        sizes = Counter(groups)
        group, largest = sizes.most_common(1)[0]
        samples = count_in_words(len(groups), "sample")
        parts = [f"{len(sizes):,} of {samples}, by {self.source}"]
        if largest == 1 and len(sizes) > 1:
            parts = [f"each of the {samples} is a group by itself, by {self.source}"]
        if len(sizes) == 1:
            parts.append(f"all are of '{group}', so nothing can be said beyond it")
        elif largest > 1:
            parts.append(f"the largest has {largest:,}")
        if mixed := groups_across(groups, labels):
            parts.append(f"{len(mixed):,} of several labels ({shorten_names(mixed)})")
        if self.alone:
            samples = count_in_words(len(self.alone), "sample")
            rest = "counts by itself" if len(self.alone) == 1 else "count by themselves"
            names = shorten_names(list(self.alone))
            parts.append(f"{samples} without one {rest} ({names})")
        return "; ".join(parts)


def names_source(column: object) -> bool:
    """True if a column is called as those that name what a row was taken from."""
    return re.sub(r"[\W_]+", "", str(column)).casefold() in SOURCE_COLUMNS


def source_column(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the column by whose name and values rows share a source, None where none does."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return spread_source(
        {
            name: [source_of(row, name) for row in rows]
            for name in columns
            if names_source(name)
        }
    )


def spread_source(columns: Mapping[str, Sequence[str | None]]) -> str | None:
    """Return the column with the fewest sources of those that name any for several rows.

    A column with a source for each row, or one for all, shows no grouping.
    """
    counts = {}
    for name, values in columns.items():
        filled = [value for value in values if value is not None]
        count = len(set(filled))
        if 1 < count < len(filled):
            counts[name] = count
    return min(counts, key=counts.__getitem__, default=None)


def source_of(row: Mapping[str, Any], column: str) -> str | None:
    """The source that a row names in a column; None for an empty cell, or for what is no name."""
    value = row.get(column)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def groups_by_rule(rule: str, names: Sequence[str], title: str) -> list[str | None]:
    """Match of the rule's one capturing group in each name; None where it finds nothing."""
    pattern = _compile(rule, title)
    groups = []
    for match in map(pattern.search, names):
        group = match and match[1]
        # an optional group that took no part is None, and one of blanks names nothing
        groups.append((group and group.strip()) or None)
    if names and not any(groups):
        raise UserError(
            f"{title}: group",
            expected="an expression that matches the files' paths in the data",
            got=f"'{rule[:SHOWN]}', which matches none of {len(names):,}, such as '{names[0]}'",
            remedy=r"Write -O data.group='(.*)_clip\d+' for files such as kitchen_clip3.mp4",
        )
    return groups


def _compile(rule: str, title: str) -> re.Pattern[str]:
    expected = r"a regular expression with one capturing group, such as '(.*)_clip\d+'"
    try:
        pattern = re.compile(rule)
    # brackets nested by the thousand recurse, and "{99999999999}" overflows
    except (re.error, RecursionError, OverflowError) as error:
        raise UserError(
            f"{title}: group",
            expected=expected,
            got=f"'{rule[:SHOWN]}': {error}",
        ) from None
    if pattern.groups != 1:
        raise UserError(
            f"{title}: group",
            expected=expected,
            got=f"'{rule[:SHOWN]}', which has {pattern.groups or 'none'}",
            remedy="Put ( ) around what names the source"
            if not pattern.groups
            else "Write (?: ) for the brackets that do not name the source",
        )
    return pattern


def groups_across(groups: Sequence[str], values: Sequence[str | None]) -> list[str]:
    """The groups whose samples have more than one of the values (labels, splits), None aside."""
    values_of: dict[str, set[str]] = {}
    for group, value in zip(groups, values, strict=True):
        if value is not None:
            values_of.setdefault(group, set()).add(value)
    return [group for group, distinct in values_of.items() if len(distinct) > 1]
