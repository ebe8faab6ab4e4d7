"""Refusals of trials that a model cannot answer, and of names that a data set has not."""

from collections.abc import Iterable, Sequence

from cuescope_sdk import Capabilities, Edit, Trial, UserError, nearest

NAMED = 8  # names that an error lists


class UnopenableError(UserError):
    """A model whose files are here, and that its plugin cannot ask; nothing to wait for."""


def refuse_unknown(title: str, what: str, name: str, known: Sequence[str]) -> None:
    """Raises UserError for a name that is none of the known ones, with the nearest."""
    if name not in known:
        more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
        raise UserError(
            f"{title}: no {what} '{name}'",
            expected=f"one of {', '.join(known[:NAMED])}{more}",
            remedy=nearest(name, known),
        )


def takes_edit(capabilities: Capabilities, edit: Edit) -> bool:
    """True if a model answers with this edit: it declares the kind, or its tower takes any hook."""
    if edit.kind in capabilities.edits:
        return True
    from cuescope_sdk.models._tower_edit import TowerEdit

    # with hooks of its own no model has to know its kind (docs/adr/0013)
    return isinstance(edit, TowerEdit) and "image-tower" in capabilities.exposes


def refuse_unanswerable(
    name: str,
    capabilities: Capabilities,
    trials: Iterable[Trial],
) -> None:
    """Raises UserError for an edit or output that is not declared, and for logits over no choices.

    A model calls it before it answers, so that nothing is silently ignored.
    """
    for trial in trials:
        sample = trial.sample
        if trial.edit is not None and not takes_edit(capabilities, trial.edit):
            raise UserError(
                f"{name} does not take this edit inside the model",
                expected=", ".join(sorted(capabilities.edits)) or "a plain trial",
                got=f"the edit '{trial.edit.kind}'{capabilities.why_not(trial.edit.kind)}",
            )
        # sorted: the same line every time
        for output in sorted(trial.outputs - capabilities.outputs):
            raise UserError(
                f"{name} gives no {output}",
                expected=f"outputs {' or '.join(sorted(capabilities.outputs))}",
            )
        if "logits" in trial.outputs and not sample.choices:
            raise UserError(
                f"{name}: sample '{sample.key}' has no choices to score",
                expected="a closed label or answer set",
                got="an open question" if sample.question else "no choices",
                remedy="Use a data set with labels, or ask for embeddings alone",
            )
