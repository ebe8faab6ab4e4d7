"""Which items are of one source: by a column of the manifest, a rule on paths, or a shared file."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from cuescope_folder.answers import shorten_list
from cuescope_folder.layout import Item
from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import describe_groups, groups_by_rule

NAMED = 3  # groups that a fact lists


class Grouping(NamedTuple):
    """Items that all have a group, or none; `source` says what it is, "" where there is none."""

    items: list[Item]
    source: str = ""
    alone: frozenset[str] = frozenset()


def group_items(
    items: Sequence[Item], rule: str | None, columns: Collection[str]
) -> Grouping:
    """The items with their groups: those of their column, or else by `rule` or a shared file.

    `columns` are those of the manifest, none where there is no manifest. An item of which neither
    says anything is a group of its own.
    """
    paths = [item.path for item in items]
    groups: Sequence[str | None] = [item.group for item in items]
    # a column with groups goes before what paths may say
    if any(groups):
        source = f"column '{rule or 'group'}'"
    elif rule is not None:
        _require_rule(rule, columns)
        groups = groups_by_rule(rule, paths, "folder")
        source = f"the rule '{rule}'"
    elif len(set(paths)) < len(items):
        groups = paths
        source = "file, as several rows are about one"
    else:
        return Grouping(list(items))
    grouped = []
    alone = set()
    for item, group in zip(items, groups, strict=True):
        grouped.append(replace(item, group=group or item.key))
        if group is None:
            alone.add(item.key)
    return Grouping(grouped, source, frozenset(alone))


def group_facts(grouping: Grouping, shown: Sequence[Item]) -> dict[str, str]:
    """How many groups the items of the shown split are of, and which are in other splits too."""
    groups = [item.group for item in shown if item.group is not None]
    if not groups:
        return {}
    labels = [item.label for item in shown]
    alone = [item.key for item in shown if item.key in grouping.alone]
    facts = {"groups": describe_groups(groups, labels, grouping.source, alone)}
    splits: dict[str, set[str]] = {}
    # of every split, for `shown` has one only
    for item in grouping.items:
        if item.split is not None:
            splits.setdefault(item.group or item.key, set()).add(item.split)
    shared = [group for group, names in splits.items() if len(names) > 1]
    if shared:
        facts["groups in several splits"] = (
            f"{len(shared):,}: {shorten_list(shared, NAMED)}"
        )
    return facts


def _require_rule(rule: str, columns: Collection[str]) -> None:
    """Raise UserError for an empty column, and for what looks like the name of one not there."""
    if rule in columns:
        raise UserError(f"folder: group: column '{rule}' is empty in every row")
    # a rule has a capturing group: without "(" a column was meant
    if columns and "(" not in rule:
        raise UserError(
            "folder: group",
            expected=f"a column ({', '.join(sorted(columns))}) or a regular expression with one "
            "capturing group",
            got=f"'{rule}'",
            remedy=nearest(rule, columns),
        )
