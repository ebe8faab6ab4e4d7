"""What a model says to a trial that it cannot answer."""

from cuescope_sdk import Capabilities, Trial, UserError


def refuse_unanswerable(name: str, capabilities: Capabilities, trial: Trial) -> None:
    """Raises UserError for an edit or output that is not declared, and for logits over no choices.

    A model calls it for each trial before it answers, so that nothing is silently ignored.
    """
    sample = trial.sample
    if trial.edit is not None and trial.edit.kind not in capabilities.edits:
        raise UserError(
            f"{name} does not take this edit inside the model",
            expected=", ".join(sorted(capabilities.edits)) or "a plain trial",
            got=f"the edit '{trial.edit.kind}'",
        )
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
