"""One audit from its traces to its report."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cuescope_sdk import (
    Audit,
    Evidence,
    LazyWeights,
    Outcome,
    Plugin,
    Score,
    SentenceEncoder,
    UserError,
)
from cuescope_sdk.grounding import ClaimVerifier, scene_of
from cuescope_step_grounding.asking import baselines, most_asked, read_traces, variants
from cuescope_step_grounding.measuring import Findings, findings_of
from cuescope_step_grounding.reliance import ChangeCost, change_costs, reliance
from cuescope_step_grounding.reporting import note, rows, scores
from cuescope_step_grounding.saying import unseen
from cuescope_step_grounding.showing import show

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding

SCENES = "the annotated scenes"
TAU, TAU_OF_BAG = 0.8, 0.62  # the paper's for all-MiniLM-L6-v2, ours for the bag of words


class Study:
    """Asks for the traces of the samples as they are; the rest is asked for by the hooks."""

    def __init__(self, audit: Audit, options: "StepGrounding.Options") -> None:
        from cuescope_step_grounding.claims import parser

        self.audit, self.options = audit, options
        self.parser = parser(options.parser)
        self.verifiers = {spec: _another(audit, spec) for spec in options.other_verifiers}
        _check_evidence(audit, options)
        audit.note("questions", most_asked(audit, options))
        plain = baselines(audit, options)
        outcomes = audit.respond([one.trial for one in plain])
        self.traces = read_traces(plain, outcomes, self.parser, options)
        self.variants = list(variants(audit, options, self.traces))
        self.judged: tuple[Findings, list[ChangeCost]] | None = None

    def scores(self, outcomes: Sequence[Outcome]) -> Iterator[Score]:
        """Judges every claim, and writes the report."""
        audit, options = self.audit, self.options
        changed = read_traces(self.variants, outcomes, self.parser, options)
        verifier, encoder = _verifier(audit), _encoder(audit)
        tau = _tau(audit, options)
        found = findings_of(audit, options, self.traces, changed, verifier, encoder, tau)
        made = change_costs(found)
        self.judged = found, made
        relied = None
        if made:
            relied = reliance(
                made, audit.rng("reliance"), epsilon=options.epsilon, clip=options.clip,
                confidence=options.confidence, resamples=options.resamples,
            )  # fmt: skip
        titles = {
            "claims parsed by": self.parser.title,
            "claims held against": "nothing" if unseen(audit) else _title(verifier, SCENES),
            "beliefs compared by": _title(encoder, "a sentence encoder")
            + (f", tau {tau:g}" if options.belief == "step" else ""),
        }
        listed = rows(audit, options, found, relied)
        note(audit, options, found, relied, listed[0], titles)
        show(audit, options, found, listed[0], made)
        return scores(options, listed)

    def evidence(self) -> Iterable[Evidence]:
        """The checks."""
        from cuescope_step_grounding.verify import evidence

        if self.judged is None or not self.judged[0].answered:
            return ()
        return evidence(self.audit, self.options, *self.judged, self.verifiers)


def _check_evidence(audit: Audit, options: "StepGrounding.Options") -> None:
    """Raises UserError where changed videos would be held against scenes that they do not show."""
    annotated = any(scene_of(sample) is not None for sample in audit.samples)
    if options.evidence == "shown" and annotated and "claim-verifier" not in audit.tools:
        raise UserError(
            "step-grounding: evidence=shown", expected="a verifier that looks at changed videos",
            got=f"{SCENES}, which are of the original ones",
            remedy="Add --tool claim-verifier=SPEC, or leave evidence=original",
        )  # fmt: skip


def _another(audit: Audit, spec: str) -> ClaimVerifier:
    """A verifier to compare with, ready to judge."""
    tool: ClaimVerifier = audit.context.build("tool", spec)
    if not hasattr(tool, "judge"):
        raise UserError(
            f"step-grounding: tool {spec} is no claim-verifier", expected="one with judge()"
        )
    if isinstance(tool, LazyWeights) and not audit.context.planning:
        tool.open_weights()
    return tool


def _verifier(audit: Audit) -> ClaimVerifier:
    """The tool, or else the scenes that the data set has annotated."""
    from cuescope_sdk.grounding import SceneVerifier

    tool: ClaimVerifier = audit.tools.get("claim-verifier") or SceneVerifier()
    return tool


def _encoder(audit: Audit) -> SentenceEncoder:
    """The tool, or else a bag of words."""
    from cuescope_sdk.language import BagOfWords

    tool: SentenceEncoder = audit.tools.get("sentence-encoder") or BagOfWords()
    return tool


def _tau(audit: Audit, options: "StepGrounding.Options") -> float:
    """The option's, else what was calibrated for this kind of encoder (`calibration`)."""
    if options.tau is not None:
        return options.tau
    return TAU if "sentence-encoder" in audit.tools else TAU_OF_BAG


def _title(helper: Any, else_: str) -> str:
    """What a helper is called: its own title, the SPEC of its plugin, or else."""
    title = getattr(helper, "title", None)
    if isinstance(title, str) and title:
        return title
    if not isinstance(helper, Plugin):
        return else_
    cls = type(helper)
    target = f"{cls.__module__}:{cls.__qualname__}"
    tools = helper.context.registry.of_kind("tool")
    name = next((entry.name for entry in tools if entry.target == target), cls.__name__)
    said = getattr(helper.options, helper.options.argument or "", None)
    return f"{name}:{said}" if isinstance(said, str) else name
