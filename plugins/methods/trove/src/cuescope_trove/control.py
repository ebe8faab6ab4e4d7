"""An annotation that a person names: it may explain errors, and findings are held against it."""

from collections.abc import Sequence

import numpy as np

from cuescope_sdk import Audit, Sample, UserError

DETECTED_SIZE = "detected-size"
ENOUGH = 0.8  # of the samples must have a value


def check_control(audit: Audit, name: str) -> None:
    """Raise UserError where a control is unknown, no number and no word, or says nothing."""
    if name == DETECTED_SIZE:
        # what is held alike for every method: a detector alone is missing
        if "detector" not in audit.tools:
            raise UserError(
                f"trove: control={DETECTED_SIZE} needs a detector",
                expected="--tool detector=SPEC",
            )
        return
    values = [sample.annotations.get(name) for sample in audit.samples]
    given = [value for value in values if value is not None]
    if not given or not all(map(_is_usable, given)):
        usable = set()
        # a hint for an error message: not all of a large data set is read for it
        for sample in audit.samples[:100]:
            for key, value in sample.annotations.items():
                if _is_usable(value):
                    usable.add(key)
        names = ", ".join(sorted(usable)) or "(there is none)"
        raise UserError(
            f"trove: cannot control for '{name}'",
            expected=f"a number or a word in annotation {names}",
            got=type(given[0]).__name__ if given else "no sample has it",
        )
    if len(given) < ENOUGH * len(values) or len(set(given)) == 1:
        raise UserError(
            f"trove: control='{name}' tells too few samples from each other",
            expected=f"a value for at least {ENOUGH:.0%} of the samples, and more than one",
            got=f"{len(set(given))} different values, for {len(given)} of {len(values)} samples",
        )


def conditions(name: str | None, samples: Sequence[Sample]) -> dict[str, np.ndarray]:
    """What is held alike for it, NaN where unknown: a number, or which samples have a word."""
    values = [sample.annotations.get(name) for sample in samples if name is not None]
    known = [value for value in values if value is not None]
    if all(map(_is_number, known)):
        numbers = [np.nan if value is None else value for value in values]
        return {f"'{name}'": np.array(numbers, dtype=float)} if known else {}
    # one word among numbers makes all of them words: they have no common order
    return {
        f"'{name}' ({word})": np.array([float(str(value) == word) for value in values])
        for word in sorted(set(map(str, known)))
    }


def _is_usable(value: object) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_number(value: object) -> bool:
    numeric = isinstance(value, int | float | np.integer | np.floating)
    return numeric and not isinstance(value, bool)
