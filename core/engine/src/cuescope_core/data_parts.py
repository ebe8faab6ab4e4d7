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
    groups = _groups(dataset, range(len(dataset)))
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
    rng = generator(seed, "limit")
    groups = _groups(dataset, indices)
    # groups of one sample: exactly as many as were asked for can be drawn
    if len(groups) == len(indices):
        numbers = rng.choice(len(indices), limit, replace=False)
        chosen = [indices[number] for number in numbers]
    else:
        rng.shuffle(groups)
        sizes = list(accumulate(map(len, groups)))
        fitting = max(1, bisect_right(sizes, limit))
        chosen = list(chain.from_iterable(groups[:fitting]))
    # the order of the data set: neighbours share files
    return sorted(chosen)


def _groups(dataset: Dataset, indices: Sequence[int]) -> list[list[int]]:
    """The indices by the group of their samples; none is opened where the data set tells it."""
    # the first tells for all: to open each sample would read its files
    if not indices or dataset[indices[0]].group is None:
        return [[index] for index in indices]
    groups: dict[str | int, list[int]] = defaultdict(list)
    for index in indices:
        group = (
            dataset.group_of(index)
            if isinstance(dataset, HasGroups)
            else dataset[index].group
        )
        # a sample without a group is one of its own
        groups[group or index].append(index)
    return list(groups.values())
