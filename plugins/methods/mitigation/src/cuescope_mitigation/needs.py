"""Whether a model has what a mitigator needs."""

from cuescope_sdk import Capabilities, Requirements, UserError


def require_fit(mitigator: str, needs: Requirements, has: Capabilities) -> None:
    """Raise UserError where a model lacks what a mitigator needs."""
    missing = []
    # the engine checks what a method needs, and a mitigator is an option of one
    for field in ("outputs", "edits", "exposes"):
        missing += getattr(needs, field) - getattr(has, field)
    if missing:
        raise UserError(
            f"{mitigator} cannot mitigate this model",
            expected=f"a model with {' and '.join(sorted(missing))}",
            remedy="`cuescope plugins list` shows the other mitigators",
        )
