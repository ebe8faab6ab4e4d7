"""What Ray runs on a worker."""

from typing import Any


def actor_class() -> type:
    """The class of an actor.

    It is made in a function and names nothing of this module, so that Ray sends its code along: a
    machine without this package can still say what it lacks.
    """

    class CuescopeWorker:
        def __init__(self) -> None:
            self.answering: Any = None

        def ready(self) -> None:
            """Answered as soon as there is room for the actor."""

        def open(self, setup: bytes) -> bytes | str:
            """The reply of the one who answers, or in words why there is none."""
            try:
                from cuescope_sdk.workers import Answering
            except ImportError as error:
                import platform

                return f"the worker on {platform.node()} has no cuescope-sdk ({error})"
            self.answering = Answering()
            reply: bytes = self.answering.open(setup)
            return reply

        def take(self, batch: bytes) -> None:
            """A batch, before it is answered."""
            self.answering.take(batch)

        def answer(self) -> bytes:
            """The reply to the first batch that was taken, or will be."""
            reply: bytes = self.answering.answer()
            return reply

    return CuescopeWorker
