"""Cues from recorded answers; a model is asked what decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuescope.application import Draft, Registry
from cuescope_sdk import UserError
from cuescope_sdk.choosing import Question

LOG = "log"  # the model, and the data, that recorded answers are


@dataclass(frozen=True)
class FromLog:
    """A log in the place of a model's answers."""

    log: Path | None
    options: Mapping[str, Any]

    def finding(self, draft: Draft, registry: Registry) -> Draft:
        """The draft that finds cues: the log, on the data that it holds or that are named."""
        if self.log is None:
            if self.options:
                raise UserError("-O log.without --log", remedy="Add --log FILE")
            return draft
        spec = f"{LOG}:{self.log}"
        named = Question(spec, draft.data, self.options).with_own_data(registry)
        update = {
            "model": spec,
            "model_options": self.options,
            "data": named.data,
            "data_options": {**draft.data_options, **(named.data_options or {})},
        }
        return draft.model_copy(update=update)

    def testing(self, draft: Draft, finding: Draft) -> Draft | None:
        """The draft that tests them: the model on the same data; None without a model."""
        if self.log is None:
            return draft
        if draft.model is None:
            return None
        update = {"model": draft.model, "model_options": draft.model_options}
        return finding.model_copy(update=update)
