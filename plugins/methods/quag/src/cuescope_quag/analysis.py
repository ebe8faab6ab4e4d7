"""From answers to results: what each condition costs, where it costs most, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cuescope_quag.measures import (
    Measure,
    balanced_accuracy,
    choose_measure,
    joint_types,
    only_answer,
    plain_accuracy,
    question_types,
)
from cuescope_quag.options import QUAGOptions
from cuescope_quag.scores import Loss, Losses, Part, Rate, Rule, compare, smallest_loss
from cuescope_quag.trials import WITHOUT_VIDEO, Answers, Codes
from cuescope_quag.verdict import UNMEASURED, Verdict, verdict
from cuescope_sdk import Audit
from cuescope_sdk.statistics import benjamini_hochberg

# the plain rate, and losses by condition
Comparison = tuple[Rate, dict[str, Loss]]


@dataclass(frozen=True)
class Figures:
    """What a report is made of; `measure` decides, `by_type` and `part` are in it."""

    options: QUAGOptions
    answers: Answers
    rule: Rule
    measure: str
    by_measure: Mapping[str, Comparison]
    by_type: Mapping[str, Comparison]
    part: Part | None = None

    @property
    def headline(self) -> Comparison:
        """The plain rate and the losses in the measure that decides."""
        return self.by_measure[self.measure]

    @property
    def worst_losses(self) -> dict[str, Loss]:
        """The losses of the headline, each with the types of question in which most is lost."""
        return with_worst(self.headline[1], self.by_type, self.rule)

    @cached_property
    def q_values(self) -> dict[str, float]:
        """Of each condition, for the false discovery rate over all that are tried."""
        losses = self.headline[1]
        keys = self.answers.keys
        q_values = benjamini_hochberg([losses[key].p_value for key in keys])
        return dict(zip(keys, q_values, strict=True))

    @cached_property
    def decision(self) -> Verdict:
        """The verdict; a loss in one type of question counts for it."""
        # before any test: who always gives that answer would look perfect
        if only_answer(self.answers.samples) is not None:
            return Verdict("one right answer")
        if self.answers.none_accepted:
            return Verdict("no right answer")
        return verdict(self.headline[0], self.worst_losses, self.rule, self.part)

    def is_finding(self, key: str) -> bool:
        """A significant loss of more than `drop` points, of a model that can be measured."""
        loss = self.headline[1][key]
        significant = self.q_values[key] <= self.options.fdr
        # interval and test are made in different ways: a finding has both
        sure = loss.low is not None and loss.low > 0
        lost = loss.lost > self.options.drop
        return significant and sure and lost and self.decision.kind not in UNMEASURED

    @property
    def detectable(self) -> float | None:
        """Points that a condition must cost to be found in 8 of 10 audits; None for no loss."""
        # questions of one video hang together, and tell less than their number
        effect = self.answers.groups.design_effect(self.answers.before.astype(float))
        # what Benjamini and Hochberg ask of the first of all conditions
        level = self.options.fdr / max(len(self.answers.conditions), 1)
        lost = smallest_loss(len(self.answers.samples) / effect, level)
        # however surely it is seen, less than `drop` is no finding
        return None if lost is None else max(lost, self.options.drop)


def analyse(audit: Audit, options: QUAGOptions, answers: Answers) -> Figures:
    """All that is compared: overall by each measure, and by type of question."""
    rule = Rule(options.margin, options.drop)
    measure = choose_measure(answers.samples)
    by_measure: dict[str, Comparison] = {
        measure.name: _compare(audit, rule, answers, measure)
    }
    other = plain_accuracy if measure.name == "balanced accuracy" else balanced_accuracy
    second = other(answers.samples)
    if second is not None:
        by_measure[second.name] = _compare(audit, rule, answers, second)
    by_type = {}
    for kind, index in question_types(answers.samples).items():
        by_type[kind] = _compare(audit, rule, answers, measure, index)
    part = part_with_video(audit, rule, answers, measure)
    return Figures(options, answers, rule, measure.name, by_measure, by_type, part)


def _compare(
    audit: Audit,
    rule: Rule,
    answers: Answers,
    measure: Measure,
    index: Codes | None = None,
) -> Comparison:
    """The plain rate and the losses by condition, of all samples or of those of an index."""
    part = np.arange(len(answers.before)) if index is None else index
    rate, losses = compare(
        answers.before[part],
        answers.after[part],
        measure.subset(part),
        answers.groups.take(part),
        # the same draws each time: parts and measures differ by answers alone
        audit.rng("bootstrap"),
        rule,
        None if answers.answer_codes is None else answers.answer_codes[part],
    )
    return rate, dict(zip(answers.keys, losses, strict=True))


def with_worst(
    losses: Losses,
    by_type: Mapping[str, Comparison],
    rule: Rule,
) -> dict[str, Loss]:
    """Each with the types of question in which most is lost."""
    worst = {}
    for key, loss in losses.items():
        of_types = {kind: of_type[key] for kind, (_, of_type) in by_type.items()}
        worst[key] = loss.with_worst(of_types, rule.level)
    return worst


def part_with_video(
    audit: Audit,
    rule: Rule,
    answers: Answers,
    measure: Measure,
) -> Part | None:
    """The types of question in which the video surely matters; None where these are all, or none.

    A type with one right answer says little alone, since who gives that answer to everything is
    right: such types count together.
    """
    types = joint_types(answers.samples)
    if WITHOUT_VIDEO not in answers.keys or len(types) < 2:
        return None
    by_type = {}
    kinds: list[str] = []
    indices = []
    for names, index in types.items():
        rate, losses = _compare(audit, rule, answers, measure, index)
        # Bonferroni: no type may be chosen by luck.
        if len(types) * losses[WITHOUT_VIDEO].p_costs <= rule.level:
            by_type[" and ".join(names)] = (rate, losses)
            kinds += names
            indices.append(index)
    if len(indices) in (0, len(types)):
        return None
    index = np.sort(np.concatenate(indices))
    rate, losses = _compare(audit, rule, answers, measure, index)
    worst = with_worst(losses, by_type, rule)
    return Part(tuple(kinds), len(index), len(answers.samples), rate, worst)
