"""What goes with what in a data set: counts over images, and how strong a bond they show."""

from collections import Counter, defaultdict
from collections.abc import Set
from dataclasses import dataclass, field
from math import log, sqrt

Z = 1.96  # of a two-sided 95% interval


@dataclass
class Counts:
    """Images by what they show: all of them, each class, each name, and both together."""

    images: int = 0
    of_class: Counter[str] = field(default_factory=Counter)
    of_name: Counter[str] = field(default_factory=Counter)
    together: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, classes: Set[str], names: Set[str]) -> None:
        """An image that belongs to these classes and shows these names."""
        self.images += 1
        self.of_class.update(classes)
        self.of_name.update(names)
        for name in classes:
            self.together[name].update(names)

    def ranked(self, label: str, least: int) -> list[str]:
        """The names in `least` images of a class or more, those of the strongest bond first."""
        return [
            name
            for _, name in sorted(
                (-bond(both, self.of_class[label], self.of_name[name], self.images), name)
                for name, both in self.together[label].items()
                if both >= least and name != label
            )
        ]


def bond(both: int, of_class: int, of_name: int, images: int) -> float:
    """Log odds ratio of a name and a class over images, at the lower end of its 95% interval.

    One half is added to each of the four counts (Haldane, 1956), so that none is zero.
    """
    cells = both, of_class - both, of_name - both, images - of_class - of_name + both
    with_both, with_class, with_name, with_neither = (count + 0.5 for count in cells)
    ratio = log(with_both * with_neither / (with_class * with_name))
    return ratio - Z * sqrt(sum(1 / (count + 0.5) for count in cells))
