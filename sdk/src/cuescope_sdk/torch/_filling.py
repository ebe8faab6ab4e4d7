"""A network filled from a checkpoint, strictly both ways: nothing missing, nothing left over."""

from collections.abc import Callable, Mapping

from torch import Tensor, nn

from cuescope.errors import UserError


def load_state_strictly(
    network: nn.Module,
    tensors: Mapping[str, Tensor],
    headline: str,
    *,
    spare: tuple[str, ...] = (),
    describe: Callable[[str], str] = str,
) -> None:
    """Give every parameter and buffer of a network its tensor of a checkpoint, by name.

    A network with one tensor left at random still answers, and wrongly. So a tensor that is
    missing, fits nowhere or has another shape is a UserError; its first line is `headline`, such
    as "just-ask: ckpt.pth does not fit". Tensors whose names start as one of `spare` may fit
    nowhere. `describe` turns a name in the network into the words of the error: the name and the
    file that the authors gave it.
    """
    state = network.state_dict()
    missing = [name for name in state if name not in tensors]
    unused = [
        name for name in tensors if name not in state and not name.startswith(spare)
    ]
    other = [n for n in state if n in tensors and state[n].shape != tensors[n].shape]
    for wrong, what in (
        (missing, "missing"),
        (unused, "that fit nowhere"),
        (other, "misshapen"),
    ):
        if wrong:
            first = wrong[0]
            shape = ""
            if first in tensors:
                shape = f", shape {tuple(tensors[first].shape)}"
            if wrong is other:
                shape += f" instead of {tuple(state[first].shape)}"
            raise UserError(
                headline,
                expected=f"{len(state)} tensors of the model and no other",
                got=f"{len(wrong)} {what}, the first {describe(first)}{shape}",
            )
    network.load_state_dict({name: tensors[name] for name in state})
