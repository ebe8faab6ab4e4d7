"""Tells that other packages bring (entry point group `cuescope.tells`)."""

from collections.abc import Sequence
from functools import partial

from cuescope_blind.questions import OneAQuestion, PerOption
from cuescope_blind.tells import Tell
from cuescope_sdk import Audit, Sample, UserError, tells


def other_tells(
    audit: Audit,
    samples: Sequence[Sample],
    fold: OneAQuestion,
) -> list[tuple[Tell, PerOption]]:
    """Each with the strength of every option of these samples.

    One that reads held-out labels, or fails, raises UserError where it was asked for by name; else
    it is left out, and the report says why.
    """
    registry = audit.context.registry
    named = audit.options.tells
    specs = named or [entry.name for entry in registry.of_kind("tell")]
    others = []
    refused = []
    for spec in specs:
        try:
            plugin = audit.context.resolve("tell", spec)
            with registry.blaming(plugin.entry):
                build = partial(plugin.build, audit.context)
                rng = audit.rng("tell", spec)
                strengths = tells.Tell.held_out_strengths(
                    spec, build, samples, fold, rng
                )
        except UserError as error:
            if named:
                raise
            refused.append(str(error))
            continue
        kind = plugin.plugin
        others.append((Tell(spec, kind.title, is_rule=not kind.learns), strengths))
    if refused:
        audit.note("tells left out", "; ".join(refused))
    return others
