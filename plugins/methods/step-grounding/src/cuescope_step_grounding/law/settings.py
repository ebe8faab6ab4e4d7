"""What audits of the law are made under: one value of one option, videos changed or not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from cuescope_sdk import Request, UserError

OF_MODEL = "model"
OF_VERIFIER = "claim-verifier"
CHANGES = ("position", "temporal", "visibility", "irrelevant")


@dataclass(frozen=True)
class Setting:
    """One value of an option of the method, or of `role`; without a name the options as they are.

    `changes`: videos are changed too, for without that there is no VRS.
    """

    role: str = ""
    name: str = ""
    value: Any = None
    changes: bool = False

    def __str__(self) -> str:
        return f"{self.role}{'.' * bool(self.role)}{self.name}={self.value}"

    def of(self, request: Request, known: bool = True) -> Request:
        """The request under this setting; on data that is not `known` nothing is changed."""
        # VRS is read from the run on known data alone
        if self.changes and known:
            request = _with(request, "method_options", {"perturbations": list(CHANGES)})
        if not self.name:
            return request
        own = {self.name: self.value}
        if self.role == OF_MODEL:
            return _with(request, "model_options", own)
        if self.role == OF_VERIFIER:
            options = {
                OF_VERIFIER: {**request.tool_options.get(OF_VERIFIER, {}), **own}
            }
            return _with(request, "tool_options", options)
        return _with(request, "method_options", own)


def _with(request: Request, field: str, more: Mapping[str, Any]) -> Request:
    return request.model_copy(update={field: {**getattr(request, field), **more}})


def settings(text: str) -> list[Setting]:
    """ "epsilon=0.001,0.01,0.1" or "claim-verifier.threshold=0.1,0.3"; raises UserError."""
    name, sign, values = text.partition("=")
    role, _, inner = name.strip().rpartition(".")
    # as YAML, so that 0.1 is a number and true is no word
    chosen = [yaml.safe_load(value) for value in values.split(",") if value.strip()]
    if (
        not sign
        or not inner
        or len(chosen) < 2
        or role not in {"", OF_MODEL, OF_VERIFIER}
    ):
        raise UserError(
            f"bench step-grounding: sweep {text}",
            expected="an option with several values: epsilon=0.001,0.01,0.1, "
            "claim-verifier.threshold=0.1,0.3 or model.steps=3,7",
        )
    # these are of VRS alone, for which videos have to be changed
    only_changes = not role and inner in {"epsilon", "clip", "instances"}
    return [
        replace(Setting(role, inner, value), changes=only_changes) for value in chosen
    ]
