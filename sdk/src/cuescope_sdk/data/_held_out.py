"""Categories held out, by which data is parted into what is in and out of distribution."""

from collections.abc import Collection

from cuescope_sdk import UserError, generator, nearest


def held_out_categories(
    named: Collection[str] | None,
    known: Collection[str],
    count: int,
    *,
    seed: int,
    title: str,
    what: str,
) -> frozenset[str]:
    """The named categories; where none are named, `count` of the known ones drawn by seed.

    Raises UserError for a name that is not known, and for fewer known ones than are to be drawn.
    """
    if named is None:
        if len(known) < count:
            raise UserError(
                f"{title}: {count} held-out {what}s",
                expected=f"{count} or more",
                got=f"{len(known)} in all",
                remedy="Name them instead",
            )
        drawn = generator(seed, title, what).choice(sorted(known), count, replace=False)
        return frozenset(map(str, drawn))
    for name in named:
        if name not in known:
            raise UserError(
                f"{title}: no {what} '{name}'",
                expected=", ".join(sorted(known)),
                remedy=nearest(name, known),
            )
    return frozenset(named)
