"""Which samples of a data set an audit is about: a part of it, a draw of so many."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, chain

from cuescope_core.capabilities import Dataset, HasGroups
from cuescope_core.errors import UserError
from cuescope_core.seeds import generator


def select_part(dataset: Dataset, part: str, seed: int) -> list[int]:
    """The indices of the groups in a part: "2+3/3" is the second and the third of three."""
    numbers, _, total = part.partition("/")
    wanted = {int(number) for number in numbers.split("+")}
    count = int(total)
    if count < 1:
        raise UserError(f"part {part}", expected="the number of parts after the /")
    if min(wanted) < 1 or max(wanted) > count:
        raise UserError(
            f"part {part}", expected=f"numbers from 1 to {count} before the /"
        )
    groups = _groups(dataset)
    # by the seed alone: part 2/3 of a later audit is the rest of this one's 1/3 (docs/adr/0018)
    generator(seed, "part").shuffle(groups)
    indices: list[int] = []
    for number in wanted:
        # dealt like cards: parts differ by one group at most
        indices.extend(chain.from_iterable(groups[number - 1 :: count]))
    return sorted(indices)


def draw(
    dataset: Dataset,
    indices: Sequence[int],
    limit: int,
    seed: int,
) -> list[int]:
    """So many of the indices, or the whole groups that fit into so many."""
    # the first tells for all: to open each sample would read its files
    has_groups = len(indices) > 0 and dataset[indices[0]].group is not None
    groups = [_group_of(dataset, index) if has_groups else None for index in indices]
    return [indices[number] for number in draw_numbers(groups, limit, seed)]


def draw_numbers(groups: Sequence[str | None], limit: int, seed: int) -> list[int]:
    """Which of the samples of these groups are drawn: so many, or the whole groups that fit."""
    rng = generator(seed, "limit")
    members = _members(groups)
    # groups of one sample: exactly as many as were asked for can be drawn
    if len(members) == len(groups):
        chosen = rng.choice(len(groups), limit, replace=False).tolist()
    else:
        rng.shuffle(members)
        sizes = list(accumulate(map(len, members)))
        fitting = max(1, bisect_right(sizes, limit))
        chosen = list(chain.from_iterable(members[:fitting]))
    # the order of the data set: neighbours share files
    return sorted(chosen)


def _groups(dataset: Dataset) -> list[list[int]]:
    """The indices by the group of their samples; none is opened where the data set tells it."""
    if not len(dataset) or dataset[0].group is None:
        return [[index] for index in range(len(dataset))]
    return _members([_group_of(dataset, index) for index in range(len(dataset))])


def _group_of(dataset: Dataset, index: int) -> str | None:
    if isinstance(dataset, HasGroups):
        return dataset.group_of(index)
    return dataset[index].group


def _members(groups: Sequence[str | None]) -> list[list[int]]:
    """The numbers of the samples of each group; one without a group is one of its own."""
    members: dict[str | int, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        members[group or number].append(number)
    return list(members.values())
