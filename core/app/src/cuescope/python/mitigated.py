"""A model of the caller that answers with what a mitigator learned for it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cuescope.python.stored import StoredReport
from cuescope_core.atomic_files import require_path
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.in_memory import Held
from cuescope_core.mitigated import MitigationStamp, read_stamp


class Mitigated:
    """A model in memory with what `cuescope.mitigate` learned for it.

    `learned` is the report of `cuescope.mitigate`, or the folder `mitigated` of its run. It stands
    wherever the model does; answers are kept apart from those of the model as it was. Raises
    UserError where nothing was kept there, and for a SPEC, whose options name the folder.
    """

    def __init__(self, model: Any, learned: str | Path | StoredReport) -> None:
        if isinstance(learned, StoredReport):
            learned = learned.folder / "mitigated"
        require_path("learned", learned)
        self.model = model
        self.folder = Path(learned)
        if isinstance(model, str):
            raise UserError(
                f"Mitigated of '{model}'",
                expected="a model in memory",
                remedy=f"model='{model}', model_options={{'mitigated': '{self.folder}'}}",
            )
        # at once: a wrong folder is a mistake of this line
        self.stamp = read_stamp(self.folder)


def hold_mitigated(item: Mitigated, held: Held) -> Held:
    """Hold a mitigated model, where `held` stands for the model as it was."""
    stamp = item.stamp

    def build(context: Context) -> Any:
        entry = context.registry.find("mitigator", stamp.mitigator)
        with context.registry.blaming(entry):
            mitigator = context.registry.load(entry)
            return mitigator.mitigated(held.build(context), item.folder, context)

    # the run's folder is named after it: another fit has another one
    return replace(held, build=build, fingerprint=_digest(held, stamp))


def _digest(held: Held, stamp: MitigationStamp) -> str:
    files = sorted(stamp.files.items())
    return digest(held.fingerprint, stamp.mitigator, stamp.learned, files)
