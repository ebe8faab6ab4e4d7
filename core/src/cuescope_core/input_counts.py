"""The pictures that a model was shown."""

from collections.abc import Set as AbstractSet

from cuescope_core.key_set import SeenKeys


class Shown:
    """How many `inputs` a model was shown, and of which distinct `pictures`.

    A picture counts as distinct once `settle` was called: for a batch of one it would take a
    fiftieth of a fast model's time.
    """

    def __init__(self) -> None:
        self.inputs = 0
        self.pictures = SeenKeys()
        self._unsettled: set[str] = set()

    def add(self, keys: AbstractSet[str], inputs: int) -> None:
        """These pictures were shown, by so many inputs."""
        self.inputs += inputs
        self._unsettled |= keys

    def settle(self) -> None:
        """Count what was added since as distinct pictures."""
        self.pictures.add(self._unsettled)
        self._unsettled = set()

    def merge(self, other: "Shown") -> None:
        """Add what was shown and settled elsewhere."""
        self.inputs += other.inputs
        self.pictures.merge(other.pictures)
