"""The words of a report: what an audit concludes. Frozen, strict, and stored as JSON."""

import math
import re
from collections.abc import Iterable, Mapping
from operator import is_
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, FiniteFloat, model_validator

from cuescope_core.digest import digest
from cuescope_core.errors import UserError, nearest
from cuescope_core.types import Value

SCHEMA_VERSION: Literal[2] = 2
Verdict = Literal["supported", "refuted", "inconclusive"]
Status = Literal[
    "correlation",
    "cause",
    "not a cause",
    "inconclusive",
    "used",
    "partly used",
    "not used",
    "unsupported",
]
Kind = Literal["cue", "problem", "result"]
# all others are of cues
KINDS: dict[str, Kind] = {
    "not a cause": "result",
    "inconclusive": "result",
    "used": "result",  # as it should be
    "partly used": "problem",
    "not used": "problem",
    "unsupported": "problem",
}
# of a feature's name: its characters, and how often it stands in a sentence
LONGEST_NAME = 500
MOST_NAMED = 4
# as tables and other programs hold them: a stranger's report may have thousands of digits
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[Whole, Field(ge=0)]


RUN_OPTIONS = {"run", "others", "save"}  # folders: of tested runs, of what is saved
OWN_STEP = "next step"  # a note of the method
STEPS = {OWN_STEP, "audit the mitigated model"}  # notes of what to type next
ROUNDING = 1e-6  # by which a sum of probabilities may pass 1


class Occurrence(Value):
    """Where a feature occurs: a sample, one of its frames, a box (x0, y0, x1, y1) in pixels."""

    sample: str
    frame: Count | None = None
    region: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None = None
    strength: FiniteFloat = 1.0

    @model_validator(mode="after")
    def _region_is_a_box_in_pixels(self) -> Self:
        if self.region is None:
            return self
        x0, y0, x1, y1 = self.region
        wanted = "region: expected (x0, y0, x1, y1) in pixels, top left to bottom right"
        if x0 > x1 or y0 > y1:
            raise ValueError(
                f"{wanted}, got {self.region}, which ends before it begins"
            )
        within_one = min(self.region) >= 0 and max(self.region) <= 1
        if within_one and not all(edge.is_integer() for edge in self.region):
            raise ValueError(
                f"{wanted}, got {self.region}, which are shares. Times width, height"
            )
        return self


class Feature(Value):
    """A candidate cue. `occurrences` come strongest first; the first one stands for it."""

    key: str = Field(description="its own in the report")
    kind: str = Field(description="sort of cue: cluster, slice, object ...")
    name: str | None = Field(None, description="words for it, where there are some")
    occurrences: tuple[Occurrence, ...] = Field(
        (), description="where it is, strongest first"
    )


class Metric(Value):
    """A kind of score."""

    name: str = Field(description="as scores name it")
    title: str = Field(description="head of its column")
    meaning: str = Field(description="to someone who has not read the paper")
    unit: Literal["proportion", "points"] | None = Field(
        None, description="1 is all, or 100 are all; none: a scale of its own"
    )
    accuracy_cost: bool = Field(
        False, description="what a cue costs in accuracy, which gates limit; has a unit"
    )
    higher_is_better: bool = Field(False, description="more of it is no harm")

    @model_validator(mode="after")
    def _cost_has_a_unit(self) -> Self:
        if self.accuracy_cost and self.unit is None:
            raise ValueError(
                f"metric '{self.name}' is a cost in accuracy: expected unit='proportion' or "
                f"'points', got None"
            )
        return self


class Score(Value):
    """A figure for a feature and label; what is missing is None, never NaN."""

    feature: str = Field(description="key of the feature")
    label: str | None = Field(description="label that it is about; none: all of them")
    metric: str = Field(description="name of one of the method's metrics")
    # finite: JSON has no NaN, and would lose the number
    value: FiniteFloat | None
    low: FiniteFloat | None = Field(None, description="lower end of the interval")
    high: FiniteFloat | None = Field(None, description="upper end of the interval")
    n: Count | None = Field(None, description="samples with the feature")
    p_value: FiniteFloat | None = Field(None, description="of the null of no effect")
    q_value: FiniteFloat | None = Field(
        None, description="p-value, corrected for all that was tried"
    )
    finding: bool = Field(
        False,
        description="it passes the method's rule; has a statement, interval, q-value",
    )
    always_reported: bool = Field(
        False, description="print the statement also where it is no finding"
    )
    statement: str | None = Field(
        None, description="it in words, {feature} for the feature's name"
    )
    doubt: str | None = Field(
        None, description="why it has no star yet, though it passes the rule"
    )

    @property
    def mark(self) -> str:
        """Mark in a table: ? in doubt, * a finding."""
        if self.doubt:
            return "?"
        return "*" if self.finding else ""

    @model_validator(mode="after")
    def _p_and_q_are_probabilities(self) -> Self:
        for name, value in (("p_value", self.p_value), ("q_value", self.q_value)):
            # sums of probabilities may pass 1 by their last digits
            if value is not None and not -ROUNDING <= value <= 1 + ROUNDING:
                raise ValueError(
                    f"{name}: expected a probability from 0 to 1, got {value:g}"
                )
        return self

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.low is None or self.high is None:
            return self
        # an interval of one point may differ in its last digit
        if self.low > self.high and not math.isclose(self.low, self.high):
            raise ValueError(
                f"the interval ends before it begins: expected low <= high, got "
                f"low={self.low:g} and high={self.high:g}"
            )
        return self


class Evidence(Value):
    """A check of the findings."""

    check: str = Field(description="what was tested")
    verdict: Verdict
    detail: str = Field(description="what came out, in words")
    value: FiniteFloat | None = Field(None, description="the figure")
    threshold: FiniteFloat | None = Field(None, description="what it is held against")
    n: Count | None = Field(None, description="samples that it rests on")
    feature: str | None = Field(None, description="finding it is about; none: all")
    label: str | None = Field(None, description="label it is about; none: all")
    name: str | None = Field(None, description="words that it found for the feature")
    doubt: str | None = Field(
        None,
        description="of a check of what findings rest on: why they are none (refuted) or in doubt "
        "(inconclusive)",
    )

    def concerns(self, score: Score) -> bool:
        """True if it is about the feature and label of a score; it is where it names none."""
        return self.feature in (None, score.feature) and self.label in (
            None,
            score.label,
        )


Cell = str | FiniteFloat | Whole | None


class Table(Value):
    """A table of a report or bench: `rows` by column name, a paper's own figures in `paper`.

    The first column names a row; what the paper has under that name stands beside it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Cell], ...]
    paper: tuple[dict[str, Cell], ...] = ()
    notes: tuple[str, ...] = ()
    decimals: Annotated[int, Field(ge=0, le=15)] = 1

    @model_validator(mode="after")
    def _rows_have_names(self) -> Self:
        first = set(self.columns[:1])
        for row in (*self.rows, *self.paper):
            if not first or not first <= row.keys() <= set(self.columns):
                raise ValueError(f"a row of '{self.title}' has other columns")
        return self

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[str],
        rows: Iterable[Iterable[Cell]],
        *notes: str,
        paper: Iterable[Mapping[str, Cell]] = (),
        decimals: int = 1,
    ) -> Self:
        """From the cells of its rows; of the paper's rows those of its columns."""
        columns = tuple(columns)
        return cls(
            title=title,
            columns=columns,
            rows=tuple(dict(zip(columns, cells, strict=True)) for cells in rows),
            paper=tuple(
                {name: row[name] for name in columns if name in row} for row in paper
            ),
            notes=notes,
            decimals=decimals,
        )


class Picture(Value):
    """A drawing of a report: the bytes of a PNG or JPEG, with words for those who do not see it."""

    # pydantic writes bytes as UTF-8 where nothing is said, and a PNG is none
    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    title: str
    caption: str
    image: bytes


class Exhibit(Value):
    """A sample in a contrast, and what the model says of it.

    `prediction` has its `probability` among the choices; `correct` is None where no label is
    known. `words` are the method's own: a question, a claim, what was changed. `drawing` is what
    the method saw, the bytes of a PNG or JPEG, shown beside the frame.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    occurrence: Occurrence
    label: str | None = None
    prediction: str | None = None
    probability: FiniteFloat | None = None
    correct: bool | None = None
    words: str | None = None
    drawing: bytes | None = None


class Side(Value):
    """One side of a contrast; the title says what it shows and how often the model is right."""

    title: str
    exhibits: tuple[Exhibit, ...]


class Contrast(Value):
    """Example pairs: the model with a feature and without it.

    `rule` says how the samples were chosen.
    """

    feature: str
    label: str | None = None
    sides: tuple[Side, Side]
    rule: str

    @property
    def shows_its_label_only(self) -> bool:
        """True if it is about a label, and all of its samples have that one."""
        labels = {exhibit.label for side in self.sides for exhibit in side.exhibits}
        return self.label is not None and labels == {self.label}


class Outline(Value):
    """The place of a cue in pictures: cells of a grid that is laid over the frame.

    `bits` are the cells of all `rows`, packed. Without a `sample` it is that of every picture.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    sample: str | None = None
    frame: Count = 0
    rows: Whole
    cols: Whole
    bits: bytes

    @model_validator(mode="after")
    def _has_all_cells(self) -> Self:
        sides = self.rows, self.cols
        if min(sides) < 1 or len(self.bits) != math.ceil(math.prod(sides) / 8):
            raise ValueError("an outline has other cells than its rows and columns say")
        return self

    @classmethod
    def of(cls, mask: np.ndarray, sample: str | None = None, frame: int = 0) -> Self:
        """From a boolean mask (row, col)."""
        rows, cols = mask.shape
        bits = np.packbits(mask).tobytes()
        return cls(sample=sample, frame=frame, rows=rows, cols=cols, bits=bits)

    @property
    def mask(self) -> np.ndarray:
        """The boolean mask (row, col)."""
        size = self.rows * self.cols
        flat = np.unpackbits(np.frombuffer(self.bits, np.uint8), count=size)
        return flat.reshape(self.rows, self.cols).astype(bool)


class Portrait(Value):
    """Description of a cue in its frames: where it is, and what changes there.

    `name` is a guess at what it is, None where the feature has a better one. `area` is its mean
    share of the frame, None where it has no place. `auroc` tells how well frames of groups that
    nothing was learned from are told by it. Where the model told the place, `mends` says how often
    its answers become right when that is hidden, and `auroc` how well this is told from what is
    hidden elsewhere.
    """

    feature: str
    label: str | None = None
    name: str | None
    where: str
    what: str
    area: FiniteFloat | None = None
    auroc: FiniteFloat
    outlines: tuple[Outline, ...] = ()
    mends: str | None = None

    @property
    def sentence(self) -> str:
        """Where, what and how sure."""
        area = "" if self.area is None else f", {self.area:.0%} of the frame"
        sure = (
            f"it tells frames of other groups with an AUROC of {self.auroc:.2f} "
            "(0.5 is chance)"
        )
        if self.mends is not None:
            sure = f"by the model itself: {self.mends}"
        return (
            f"Where: {self.where}{area}. What changes there: {self.what}. "
            f"How sure: {sure}. Names are guesses: look at the pictures."
        )

    def outline_of(self, occurrence: Occurrence) -> Outline | None:
        """The one that belongs on a picture; None where there is none."""
        shown = occurrence.sample, occurrence.frame or 0
        for outline in self.outlines:
            if outline.sample is None or (outline.sample, outline.frame) == shown:
                return outline
        return None


class Row(Value):
    """A row of a finding: answers with the cue and without it, in percent of one quantity.

    `subject` is the label, task or input that it is about; `change` is with minus without, in
    percentage points, from `low` to `high`. One that was not tested has no `q_value`. `passes` says
    that the change passes the method's rule, `doubt` what else may explain it. Its score is that of
    `label` and of the finding's feature, or of another `feature`; one that names neither and has no
    change is what others are compared with.
    """

    subject: str
    feature: str | None = None
    label: str | None = None
    with_cue: FiniteFloat | None = None
    without_cue: FiniteFloat | None = None
    change: FiniteFloat | None = None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    n: Count | None = None
    q_value: FiniteFloat | None = None
    passes: bool = False
    doubt: str | None = None

    @property
    def mark(self) -> str:
        """Mark in a table: ? in doubt, * a finding."""
        if self.doubt:
            return "?"
        return "*" if self.passes else ""


class Impact(Value):
    """How much of the whole audit a cue explains: `count` of `total` errors, or of what `of` says.

    `detail` says of what the count is made.
    """

    count: Count
    total: Count
    of: str = "errors"
    detail: str | None = None

    @property
    def words(self) -> str:
        """`134 of 229 errors: ...`."""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.count:,} of {self.total:,} {self.of}{detail}"


class Finding(Value):
    """A cue with all that was found of it: a claim, rows, how much it explains, and its status.

    `claim` has `{feature}` for the cue's name: '{feature} draws the answer "moving south"'. What
    rows count in percent is the `measure`, under the heads of `columns`. `impact` is None where it
    was not computed. Some `status` is of what the model uses in place of a cue: an input, a region
    or its reasoning.
    """

    feature: str
    claim: str
    measure: str = "correct"
    columns: tuple[str, str] = ("with cue", "without")
    rows: tuple[Row, ...] = ()
    impact: Impact | None = None
    status: Status = "correlation"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Other explanations of its rows, each once."""
        return tuple(dict.fromkeys(filter(None, (row.doubt for row in self.rows))))

    @property
    def kind(self) -> Kind:
        """What it is counted as."""
        return kind_of(self.status)

    @property
    def holds(self) -> bool:
        """True if it is found; what is no cue and no problem is not."""
        return holds(self.status, (row.passes for row in self.rows))


def kind_of(status: str) -> Kind:
    """Kind of a finding with this status."""
    return KINDS.get(status, "cue")


def holds(status: str, passes: Iterable[bool]) -> bool:
    """True if a row passes the method's rule; an input that is not used passes by none."""
    return kind_of(status) != "result" and (status == "not used" or any(passes))


class Accuracy(Value):
    """How often the model is right on the samples as they are; `chance` is what guessing gives.

    `p_value` is the method's own test that the model does no better, None where it has none.
    """

    correct: Count
    answered: Annotated[Whole, Field(gt=0)]
    chance: Annotated[FiniteFloat, Field(ge=0)]
    p_value: FiniteFloat | None = None

    @property
    def share(self) -> float:
        """Share of correct answers."""
        return self.correct / self.answered

    @property
    def guessing(self) -> str:
        """Chance level, in words."""
        if self.chance >= 1:
            return (
                "all samples have one label (or one choice): there is nothing to guess"
            )
        return f"chance level {self.chance:.1%}"

    def words(self, samples: int) -> str:
        """How often it is right, and what guessing gives, of an audit of so many samples."""
        asked = ""
        if self.answered < samples:
            asked = f"; not all {samples:,} samples were asked about"
        return (
            f"The model is correct in {self.correct:,} of {self.answered:,} answers "
            f"({self.share:.1%}{asked}); {self.guessing}."
        )

    @property
    def looks_guessed(self) -> bool:
        """Not above chance, where there is something to guess."""
        return self.chance < 1 and not self.above_chance

    @property
    def above_chance(self) -> bool:
        """By the p-value (0.05), else by more than two standard errors of guessing above it."""
        if self.p_value is not None:
            return self.p_value <= 0.05
        # normal approximation: one guessing model in 44 is above it by luck
        error = math.sqrt(self.chance * (1 - self.chance) / self.answered)
        return self.share > self.chance + 2 * error


class PluginStamp(Value):
    """One plugin of an audit, exactly enough to build it again.

    `code` is the digest of its files: its version may stay the same while somebody works on it, or
    builds it again. It is None for an installed one that says an `answers_version`: its answers
    stay the same while its `version` moves on.
    """

    spec: str
    options: dict[str, Any]
    dist: str
    version: str
    answers_version: Whole | None = None
    code: str | None = None
    fingerprint: str | None = None
    facts: dict[str, str] = {}


class Cost(Value):
    """Cost of the audit.

    The model was `shown` so many pictures, of so many distinct `pictures`, and worked for
    `model_seconds` of all the `seconds`. `tool_calls` counts the work of tools in words ("images
    shown to ..."), `conditions` the distinct trials of each condition.
    """

    trials: Whole
    model_calls: Whole
    cache_hits: Whole
    seconds: FiniteFloat
    shown: Whole = 0
    pictures: Whole = 0
    model_seconds: FiniteFloat = 0.0
    # in words, so that a plan and its report speak of the same number (docs/adr/0012)
    tool_calls: dict[str, Whole] = {}
    conditions: dict[str, Whole] = {}


class Provenance(Value):
    """Where a report comes from."""

    method: PluginStamp
    model: PluginStamp
    data: PluginStamp
    tools: dict[str, PluginStamp] = {}
    verifiers: tuple[PluginStamp, ...] = ()
    seed: int
    limit: Whole | None
    # a default: reports of before there were parts have none
    part: str | None = None
    samples: Whole
    labels: tuple[str, ...]
    device: str
    dtype: str
    versions: dict[str, str]
    command: str
    started: str

    @property
    def identity(self) -> list[tuple[str, str, str, str | None]]:
        """Plugins that made the report: role, name, version and fingerprint of each plugin."""
        identity = []
        for role, stamp in self.stamps:
            # ARG may be a path; the fingerprint says of what
            name = stamp.spec.partition(":")[0]
            identity.append((role, name, stamp.version, stamp.fingerprint))
        return identity

    @property
    def origin(self) -> list[object]:
        """All that makes a report: `identity`, the plugins' source, the versions of cuescope."""
        origin: list[object] = list(self.identity)
        # an editable plugin keeps its version while its code changes
        origin += [(role, stamp.code) for role, stamp in self.stamps]
        origin += [
            (name, self.versions.get(name)) for name in ("cuescope", "cuescope-sdk")
        ]
        return origin

    @property
    def stamps(self) -> list[tuple[str, PluginStamp]]:
        """Every plugin of the audit, with its role."""
        stamps = [("method", self.method), ("model", self.model), ("data", self.data)]
        stamps += [(f"tool: {role}", stamp) for role, stamp in self.tools.items()]
        stamps += [("verifier", stamp) for stamp in self.verifiers]
        return stamps


def with_doubts(
    scores: Iterable[Score], evidence: Iterable[Evidence]
) -> tuple[Score, ...]:
    """The scores; a finding of which a premise is refuted or open says why, and has no star."""
    doubts = [
        check for check in evidence if check.doubt and check.verdict != "supported"
    ]

    def check(score: Score) -> Score:
        about = [check for check in doubts if check.concerns(score)]
        refuted = [check for check in about if check.verdict == "refuted"]
        if not score.finding or not about:
            return score
        # the star goes too: readers look at stars, not at a table of checks (docs/adr/0023)
        first, *others = dict.fromkeys(check.doubt or "" for check in refuted or about)
        # a third "but" would leave a reader in doubt of the second
        more = [re.sub("^But ", "And ", other) for other in others]
        doubt = {"finding": not refuted, "doubt": " ".join([first, *more])}
        return score.model_copy(update=doubt)

    return tuple(map(check, scores))


HOLDS_NOTHING = (
    "No finding: the interval holds {nothing:g}, so no effect at all agrees with these samples as "
    "well. More samples would decide."
)


def with_one_verdict(
    scores: Iterable[Score], metric: str, nothing: float
) -> tuple[Score, ...]:
    """The scores; a finding whose interval of this `metric` holds `nothing` has no star.

    Tests that are sharper than an interval (permutations, corrections by families) may pass where
    the interval does not: a reader who sees both would have to choose.
    """

    def check(score: Score) -> Score:
        if not score.finding or score.metric != metric:
            return score
        if score.low is None or score.high is None:
            return score
        if not score.low <= nothing <= score.high:
            return score
        doubt = {"finding": False, "doubt": HOLDS_NOTHING.format(nothing=nothing)}
        return score.model_copy(update=doubt)

    return tuple(map(check, scores))


def cues_of(
    metrics: tuple[Metric, ...],
    scores: Iterable[Score],
    given: Iterable[Finding] = (),
) -> tuple[Finding, ...]:
    """The findings of headline scores, a cue each, in their order.

    Those that the method has `given` come first; what scores say of a row (whether it passes the
    rule, its q-value, its doubt) holds there too.
    """
    if not metrics:
        return tuple(given)
    metric = metrics[0]
    headlines = [score for score in scores if score.metric == metric.name]
    by_row = {(score.feature, score.label): score for score in headlines}
    cues: dict[str, Finding] = {}
    told: set[str] = set()
    for cue in given:
        rows = []
        for row in cue.rows:
            feature = row.feature or cue.feature
            named = row.feature, row.label, row.change
            is_context = all(name is None for name in named)
            score = None if is_context else by_row.get((feature, row.label))
            rows.append(_as_scored(row, score))
            told.add(feature)
        cues[cue.feature] = cue.model_copy(update={"rows": tuple(rows)})
    told |= cues.keys()
    others: dict[str, list[Row]] = {}
    for score in headlines:
        if score.feature not in told and (score.finding or score.doubt):
            others.setdefault(score.feature, []).append(_row_of(score, metric))
    for feature, own in others.items():
        cues[feature] = Finding(
            feature=feature,
            claim=f"{{feature}} changes the {metric.title}",
            measure=metric.title,
            rows=tuple(own),
        )
    return tuple(cues.values())


def _as_scored(row: Row, score: Score | None) -> Row:
    if score is None:
        return row
    said: dict[str, object] = {"passes": score.finding, "doubt": score.doubt}
    if row.q_value is None:
        said["q_value"] = score.q_value
    return row.model_copy(update=said)


def _row_of(score: Score, metric: Metric) -> Row:
    """Row of a score: the change, where it has a unit."""
    factor = {"proportion": 100.0, "points": 1.0, None: None}[metric.unit]
    change: list[float | None] = [None, None, None]
    if factor is not None:
        ends = score.value, score.low, score.high
        # what is lost with a cue is there less often
        sign = -factor if metric.accuracy_cost else factor
        change = [None if end is None else sign * end for end in ends]
        if metric.accuracy_cost:
            change[1:] = change[:0:-1]
    value, low, high = change
    return Row(
        subject=score.label or "all",
        label=score.label,
        change=value,
        low=low,
        high=high,
        n=score.n,
        q_value=score.q_value,
        passes=score.finding,
        doubt=score.doubt,
    )


class Report(Value):
    """The result of one audit. Scores come ranked; the first metric is the headline.

    `cues` are the findings, a cue each; of a report that has none they are made of its scores, as
    of those of schema 1.

    A stored report has the digests of the `files` beside it by name, and `seal`, the digest of all
    that it says: see runs.py. A changed one is not taken.
    """

    schema_version: Literal[1, 2] = SCHEMA_VERSION
    title: str
    metrics: tuple[Metric, ...]
    notes: dict[str, str]
    features: tuple[Feature, ...]
    scores: tuple[Score, ...]
    cues: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...]
    tables: tuple[Table, ...] = ()
    # methods draw them: the core shows their bytes, and loads no drawing library
    pictures: tuple[Picture, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    portraits: tuple[Portrait, ...] = ()
    accuracy: Accuracy | None = None
    provenance: Provenance
    cost: Cost
    files: dict[str, str] = {}
    # no secret is in it: a seal tells damage, and a note of the user who made it (docs/adr/0021)
    seal: str | None = None
    signature: str | None = None  # of reports from before notes

    @model_validator(mode="after")
    def _scores_are_about_its_features(self) -> Self:
        # `names` looks features up by key, far from the hook that made the mistake
        features = {feature.key for feature in self.features}
        metrics = {metric.name for metric in self.metrics}
        for score in self.scores:
            named = f"score of {score.metric!r} for {score.feature!r}"
            if score.feature not in features:
                close = nearest(score.feature, features) or "propose_features gave none"
                raise ValueError(f"{named}: no feature has this key. {close}")
            if score.metric not in metrics:
                known = ", ".join(map(repr, sorted(metrics)))
                declared = f"the metrics {known}" if known else "no metric"
                raise ValueError(f"{named}: the method declares {declared}")
        looks: list[Contrast | Portrait | Finding]
        looks = [*self.contrasts, *self.portraits, *self.cues]
        for shown in looks:
            if shown.feature not in features:
                kind = type(shown).__name__.lower()
                raise ValueError(f"{kind} of {shown.feature!r}: no such feature")
        return self

    @model_validator(mode="after")
    def _cues_are_complete(self) -> Self:
        if not self.cues:
            # frozen, and this is its own constructor; what nobody set stays a default
            object.__setattr__(self, "cues", cues_of(self.metrics, self.scores))
            self.model_fields_set.discard("cues")
        return self

    @property
    def hash(self) -> str:
        """Digest of what was asked and found; time, machine and cache have no part."""
        origin = self.provenance
        # without a part as before there were parts, so that old reports keep their hash
        draw = origin.limit if origin.part is None else (origin.limit, origin.part)
        options, notes = origin.method.options, self.notes
        if self.schema_version > 1:
            # what was found and learned is the same, wherever its folder is
            options = {name: options[name] for name in options.keys() - RUN_OPTIONS}
            notes = {name: notes[name] for name in notes.keys() - STEPS}
        # no pictures: drawing libraries round as they like; contrasts decide nothing
        return digest(
            origin.identity,
            # those of model and data are in the fingerprints
            options,
            origin.seed,
            draw,
            notes,
            self.features,
            self.scores,
            self.evidence,
            self.tables,
            # old reports keep their hash
            *([self.cues] if self.schema_version > 1 else []),
        )

    @property
    def names(self) -> dict[str, str]:
        """Feature key -> words: those that a check found, else the feature's own, else the key.

        Where its frames were looked at, a guess at what they show stands behind it.
        """
        return dict(_last_names.of(self))

    @property
    def headlines(self) -> tuple[Score, ...]:
        """The scores of the first metric, one for each feature and label tried, ranked."""
        # the order of metrics is the method's word
        first = self.metrics[0].name if self.metrics else None
        return tuple(score for score in self.scores if score.metric == first)

    @property
    def findings(self) -> tuple[Score, ...]:
        """The headline scores that pass the method's rule, strongest first."""
        return tuple(score for score in self.headlines if score.finding)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons against what passes the method's rule, each once; mostly none."""
        doubts = (score.doubt for score in self.headlines)
        return tuple(dict.fromkeys(filter(None, doubts)))

    def no_finding(self, run: Path, remedy: str) -> UserError:
        """The error of a command that was given a run without a finding."""
        return UserError(
            f"{run} has no finding",
            expected="a run that found a cue",
            got=self.doubts_in_words,
            remedy=remedy,
        )

    @property
    def doubts_in_words(self) -> str | None:
        """How many are in doubt and why, as an error tells it; None where none is."""
        count = sum(score.doubt is not None for score in self.headlines)
        reasons = " ".join(doubt.removeprefix("But ") for doubt in self.doubts)
        return f"{count} in doubt: {reasons}".rstrip(".") if count else None

    @property
    def told(self) -> tuple[Score, ...]:
        """The headlines that are told in words, ranked: findings, and what is always reported.

        What is in doubt comes behind what is not, what is held back behind all findings, which are
        counted from 1, and last what is told although it is none.
        """

        def rank(score: Score) -> int:
            if score.doubt is not None:
                return 1 if score.finding else 2
            return 3 if score.always_reported and not score.finding else 0

        told = []
        for score in sorted(self.headlines, key=rank):
            # what could not be tested is said: silence would look like "no cue"
            untested = score.value is None
            if score.finding or score.doubt or score.always_reported or untested:
                told.append(score)
        return tuple(score for score in told if score.statement)

    @property
    def statements(self) -> tuple[str, ...]:
        """The sentences about what is told."""
        return tuple(filter(None, map(self.sentence, self.told)))

    @property
    def found(self) -> tuple[Finding, ...]:
        """The cues and problems of which a row passes the method's rule; others are in doubt."""
        return tuple(cue for cue in self.cues if cue.holds)

    def portrait_of(self, feature: str) -> Portrait | None:
        """The portrait of a feature, where it was looked at."""
        for portrait in self.portraits:
            if portrait.feature == feature:
                return portrait
        return None

    def contrast_of(self, score: Score) -> Contrast | None:
        """The first contrast about the feature and label of a score."""
        for contrast in self.contrasts:
            # a contrast without a label is about all of them
            if contrast.feature == score.feature and contrast.label in (
                None,
                score.label,
            ):
                return contrast
        return None

    def sentence(self, score: Score) -> str | None:
        """The statement of a score with the feature's name in its place."""
        if not score.statement:
            return score.statement
        # not `format`: labels and answers may hold braces of their own
        name = _last_names.of(self)[score.feature]
        # a stranger's statement may have a million places
        words = score.statement.replace("{feature}", name, MOST_NAMED)
        return f"{words} {score.doubt}" if score.doubt else words


class _LastNames:
    """The names of the report that was asked last: each of its sentences asks for one of them.

    A report is a value, and holds nothing beside its fields.
    """

    def __init__(self) -> None:
        # one value: two threads must not see the parts of one report and the names of another
        self._kept: tuple[tuple[object, ...], dict[str, str]] = ((), {})

    def of(self, report: Report) -> dict[str, str]:
        """See `Report.names`; not to be changed."""
        parts = (report.features, report.portraits, report.evidence)
        known, names = self._kept
        if len(known) == len(parts) and all(map(is_, known, parts)):
            return names
        names = _names_of(report)
        self._kept = (parts, names)
        return names


_last_names = _LastNames()


def _names_of(report: Report) -> dict[str, str]:
    names = {feature.key: feature.name or feature.key for feature in report.features}
    # the strongest finding is described first, and a feature has one name
    guesses = {shown.feature: shown.name for shown in reversed(report.portraits)}
    for key, guess in guesses.items():
        if guess is not None:
            names[key] += f" (a guess: {guess})"
    for check in report.evidence:
        if check.feature and check.name:
            names[check.feature] = check.name
    return {key: short_name(name) for key, name in names.items()}


def short_name(name: str) -> str:
    """The beginning of a name: a stranger's may have a megabyte, and stand in a thousand rows."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]} ..."
