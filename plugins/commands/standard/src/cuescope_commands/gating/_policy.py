"""The policy: rules in words of the field, checked as they are read, each with its line."""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cuescope.application import fault
from cuescope_sdk import UserError
from cuescope_sdk.data import TextFile, load_yaml

STRICT = ConfigDict(extra="forbid", frozen=True)
Points = Annotated[
    float, Field(ge=0, le=100, description="points of accuracy, 0 to 100")
]


def _no_share(percent: float) -> float:
    # an accuracy below 1% is no aim of anybody, and would let each model pass
    if 0 < percent < 1:
        raise ValueError(f"a percentage: {100 * percent:g} for {percent:g} of all")
    return percent


Percent = Annotated[
    float,
    Field(ge=0, le=100, description="percent, 0 to 100"),
    AfterValidator(_no_share),
]


class Rule(BaseModel):
    """What every rule has."""

    # a misspelled key would else be a rule that is silently not there
    model_config = STRICT

    name: str | None = Field(None, description="what reports call it")
    run: str | None = Field(
        None,
        description="the folder of another run that it is about, beside the policy",
    )
    # to let the undecided pass is a decision, and stands in the file where all can read it
    undecided: Literal["block", "pass"] = Field(
        "block", description="the outcome where the run is inconclusive"
    )


class CuesCostAtMost(Rule):
    """No cue that was found, or confirmed as a cause, costs more than so many points."""

    rule: Literal["cues-cost-at-most"]
    points: Points


class CuesGrewAtMost(Rule):
    """No cue costs so many points more than in the baseline, paired sample by sample."""

    rule: Literal["cues-grew-at-most"]
    points: Points


class WorstGroupAtLeast(Rule):
    """Accuracy of the worst group: of samples of one label, or of those that show one cue."""

    rule: Literal["worst-group-at-least"]
    percent: Percent
    by: Literal["label", "cue"] = Field("label", description="what makes a group")


class AccuracyAtLeast(Rule):
    """Accuracy of all samples."""

    rule: Literal["accuracy-at-least"]
    percent: Percent


class BlindGainAtMost(Rule):
    """How far a learner that sees no pixel is above guessing: of a run of `blind`."""

    rule: Literal["blind-gain-at-most"]
    points: Points


AnyRule = Annotated[
    CuesCostAtMost
    | CuesGrewAtMost
    | WorstGroupAtLeast
    | AccuracyAtLeast
    | BlindGainAtMost,
    Field(discriminator="rule"),
]


class Policy(BaseModel):
    """Rules that a run must hold."""

    model_config = STRICT

    version: Literal[1] = 1
    # 1 in 100: a pipeline runs daily, and 1 in 20 would cry once a month
    error: float = Field(
        0.01,
        gt=0,
        le=0.5,
        description="chance that a rule fails a run that just holds it, and that it passes one "
        "that just does not",
    )
    # no rules would pass everything
    rules: list[AnyRule] = Field(min_length=1)


class PolicyText:
    """A policy with its folder, and the line of each rule."""

    def __init__(self, path: Path, policy: Policy, lines: list[int]) -> None:
        self.folder = path.parent
        self.policy = policy
        self.lines = lines


def read_policy(path: Path) -> PolicyText:
    """The policy of a file; raises UserError for what is none, with the nearest name."""
    if path.is_dir() or not path.exists():
        raise UserError(
            f"gate: cannot read {path}",
            expected="a policy: `cuescope gate POLICY.yaml RUN`",
            got="a folder" if path.is_dir() else "no such file",
            remedy="The policy stands before the run"
            if path.is_dir()
            else "`cuescope gate --schema` describes a policy",
        )
    text = TextFile(path, "gate").text()
    where = f"gate: {path.name}"
    try:
        content = load_yaml(text)
    except yaml.YAMLError as error:
        raise UserError(
            f"{where} is no YAML",
            got=" ".join(str(error).split())[:200],
            remedy="`cuescope gate --schema` describes the file",
        ) from None
    if not isinstance(content, dict):
        raise UserError(
            where, expected="a mapping with 'rules'", got=f"{content!r:.60}"
        )
    try:
        policy = Policy.model_validate(content)
    except ValidationError as error:
        # the remedy needs the words of every rule, for the misspelled one may belong to any
        known = list(Policy.model_fields)
        for rule in Rule.__subclasses__():
            known += rule.model_fields
        remedy = "`cuescope gate --schema` describes the file"
        raise fault(where, error, known, remedy) from None
    return PolicyText(path, policy, rule_lines(text, len(policy.rules)))


def rule_lines(text: str, count: int) -> list[int]:
    """The line on which each rule begins, from 1."""
    # read a second time: what is loaded has no lines, and by now it is known to be small and whole
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    lines: list[int] = []
    # a policy of one unusual form has no list here: its rules are then told from its first line
    pairs: Any = getattr(root, "value", [])
    for key, value in pairs:
        if key.value == "rules" and isinstance(value, yaml.SequenceNode):
            lines = [node.start_mark.line + 1 for node in value.value]
    return lines or [1] * count
