"""Which items are of one source: by a column of the manifest, a rule on paths, or a shared file."""

from collections.abc import Sequence

from cuescope_folder.answers import shorten_list
from cuescope_folder.layout import Item
from cuescope_folder.manifest import ManifestItems
from cuescope_sdk import UserError, nearest
from cuescope_sdk.data import BY_ITSELF, Grouping


def group_items(
    items: Sequence[Item],
    rule: str | None,
    rows: ManifestItems | None,
) -> Grouping | None:
    """The groups of the items: those of their column, or else by `rule` or a shared file.

    `rows` are those of the manifest, where there is one. None where nothing says which items are of
    one group. Raises UserError for a `rule` that looks like the name of a column that is not there.
    """
    columns = () if rows is None else rows.columns
    keys = [item.key for item in items]
    paths = [item.path or item.key for item in items]
    groups = [item.group for item in items]
    if rule == BY_ITSELF and rule not in columns:
        return Grouping(keys, "declaration (group=none)")
    # a column with groups goes before what paths may say
    if any(groups) and (columns or rule is None):
        source = f"column '{rule or 'group'}'" if columns else "the folder of each"
        return Grouping.of(keys, groups, source)
    if rule is not None:
        if rule in columns:
            raise UserError(f"folder: group: column '{rule}' is empty in every row")
        # a rule has a capturing group: without "(" a column was meant
        if columns and "(" not in rule:
            raise UserError(
                "folder: group",
                expected=f"a column ({', '.join(sorted(columns))}) or a regular expression with "
                "one capturing group",
                got=f"'{rule}'",
                remedy=nearest(rule, columns),
            )
        return Grouping.by_rule(rule, keys, paths, "folder")
    if rows is not None and rows.source is not None:
        column, sources = rows.source
        return Grouping.of(keys, sources, f"column '{column}'")
    if len(set(paths)) < len(items):
        return Grouping(paths, "file, as several rows are about one")
    return None


def group_facts(
    grouping: Grouping,
    items: Sequence[Item],
    shown: Sequence[Item],
) -> dict[str, str]:
    """How many groups the items of the shown split are of, and which are in other splits too."""
    if not shown:
        return {}
    # where nothing is said of its source, a sample is a group of its own
    groups = [item.group or item.key for item in shown]
    without = set(grouping.alone)
    alone = [item.key for item in shown if item.key in without]
    of_shown = Grouping(groups, grouping.source, alone)
    facts = {"groups": of_shown.describe([item.label for item in shown])}
    splits: dict[str, set[str]] = {}
    # of every split, for `shown` has one only
    for item, group in zip(items, grouping.groups, strict=True):
        if item.split is not None:
            splits.setdefault(group, set()).add(item.split)
    shared = [group for group, names in splits.items() if len(names) > 1]
    if shared:
        facts["groups in several splits"] = f"{len(shared):,}: {shorten_list(shared)}"
    return facts
