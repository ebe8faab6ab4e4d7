"""Every check of tower edits catches a model that is bad in just that way."""

from collections.abc import Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_sdk import Capabilities, Context, Edit, Plugin, Response, Trial, digest
from cuescope_testing import ModelContract
from cuescope_testing._fake_models import pixels_of

DIM = 8


class Towered(Plugin):
    """One block with attention over the rows of the first frame, and a head for three choices."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"logits"}), exposes=frozenset({"image-tower"})
    )
    facts: ClassVar[dict[str, str]] = {}

    def __init__(self, options: Any, context: Context) -> None:
        import torch  # late, as in any model
        from torch import nn

        super().__init__(options, context)
        self.fingerprint = digest("towered")
        with torch.random.fork_rng():
            torch.manual_seed(3)
            self.embed, self.head = nn.Linear(24, DIM), nn.Linear(DIM, 3)
            self.attention = nn.MultiheadAttention(DIM, 2, batch_first=True).eval()
        # An edit looks at the blocks alone, so nothing else of an ImageTower is needed here.
        self.image_tower = SimpleNamespace(
            blocks=[SimpleNamespace(attention=self.attention)]
        )

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [self.under(trial.edit, trial) for trial in trials]

    def under(self, edit: Edit | None, trial: Trial) -> Response:
        import torch

        hooks = nullcontext() if edit is None else edit.hooks(self.image_tower)  # type: ignore[attr-defined]
        with hooks, torch.inference_mode():
            rows = pixels_of(trial.sample.frames[0]).reshape(8, 24)
            tokens = self.embed(torch.from_numpy(rows).float())[None]
            tokens = tokens + self.attention(tokens, tokens, tokens)[0]
            return Response(logits=self.head(tokens.mean(1))[0].numpy())


class Nudged(Towered):
    """Another pass where there is an edit."""

    def under(self, edit: Edit | None, trial: Trial) -> Response:
        response = super().under(edit, trial)
        assert response.logits is not None
        return Response(logits=response.logits + np.float32(0.01 * (edit is not None)))


class Deaf(Towered):
    """Opens the hooks on a tower that does not answer."""

    def __init__(self, options: Any, context: Context) -> None:
        from torch import nn

        super().__init__(options, context)
        copy = nn.MultiheadAttention(DIM, 2, batch_first=True)
        self.image_tower = SimpleNamespace(blocks=[SimpleNamespace(attention=copy)])


class Mixed(Towered):
    """The first edit of a batch is that of all."""

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        return [self.under(trials[0].edit, trial) for trial in trials]


PROOFS = [
    ("test_carries_out_tower_edits", Nudged),
    ("test_carries_out_tower_edits", Deaf),
    ("test_carries_out_tower_edits", Mixed),
]


def failed(model: type) -> bool:
    contract = type("Contract", (ModelContract,), {"plugin": model})
    return contract.run_check(PROOFS[0][0]).status == "failed"


def test_a_good_model_passes() -> None:
    assert not failed(Towered)


@pytest.mark.parametrize(("check", "model"), PROOFS)
def test_check_catches_its_bad_model(check: str, model: type) -> None:
    assert failed(model)


def test_a_tower_that_is_promised_must_be_there() -> None:
    none = property(lambda self: None, lambda *_: None)
    assert failed(type("Promised", (Towered,), {"image_tower": none}))
