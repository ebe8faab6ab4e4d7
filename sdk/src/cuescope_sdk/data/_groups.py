"""Which samples were drawn together: by a rule on their names, and in words.

A sample that no rule and no cell gives a group is one of its own, under its key.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from cuescope_sdk import UserError
from cuescope_sdk.data._media.files import count_in_words, shorten_names

_SHOWN = 60  # characters of a rule in an error


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
        """What the rule's one capturing group finds in each name.

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


def groups_by_rule(rule: str, names: Sequence[str], title: str) -> list[str | None]:
    """What the rule's one capturing group finds in each name; None where it finds nothing."""
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
            got=f"'{rule[:_SHOWN]}', which matches none of {len(names):,}, such as '{names[0]}'",
            remedy=r"Write -D group='(.*)_clip\d+' for files such as kitchen_clip3.mp4",
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
            got=f"'{rule[:_SHOWN]}': {error}",
        ) from None
    if pattern.groups != 1:
        raise UserError(
            f"{title}: group",
            expected=expected,
            got=f"'{rule[:_SHOWN]}', which has {pattern.groups or 'none'}",
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
