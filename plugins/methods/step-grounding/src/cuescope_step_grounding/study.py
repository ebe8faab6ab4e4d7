"""One audit from its traces to its report."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from cuescope_sdk import Audit, Evidence, Outcome, Score, SentenceEncoder, UserError
from cuescope_sdk.grounding import ClaimVerifier
from cuescope_step_grounding.asking import baselines, heard, others
from cuescope_step_grounding.measuring import Findings, measured
from cuescope_step_grounding.reliance import Change, changes, reliance
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
        plain = baselines(audit, options)
        outcomes = audit.respond([one.trial for one in plain])
        self.told = heard(plain, outcomes, self.parser, options)
        self.others = list(others(audit, options, self.told))
        self.changes: list[Change] = []
        self.found: Findings | None = None

    def scores(self, outcomes: Sequence[Outcome]) -> Iterator[Score]:
        """Judges every claim, and writes the report."""
        audit, options = self.audit, self.options
        changed = heard(self.others, outcomes, self.parser, options)
        verifier, encoder = _verifier(audit), _encoder(audit)
        tau = _tau(audit, options)
        found = self.found = measured(audit, options, self.told, changed, verifier, encoder, tau)
        self.changes = changes(found)
        relied = None
        if self.changes:
            relied = reliance(
                self.changes, audit.rng("reliance"), epsilon=options.epsilon, clip=options.clip,
                confidence=options.confidence, resamples=options.resamples,
            )  # fmt: skip
        titles = {
            "claims parsed by": self.parser.title,
            "claims held against": "nothing" if unseen(audit) else _title(verifier, SCENES),
            "beliefs compared by": _title(encoder, "a sentence encoder")
            + (f", tau {tau:g}" if options.belief == "step" else ""),
        }
        note(audit, options, found, relied, titles)
        listed = rows(audit, options, found, relied)
        show(audit, options, found, listed[0], self.changes)
        return scores(options, listed)

    def evidence(self) -> Iterable[Evidence]:
        """The checks."""
        from cuescope_step_grounding.verify import evidence

        if self.found is None or not self.found.answered:
            return ()
        return evidence(self.audit, self.options, self.found, self.changes)


def _verifier(audit: Audit) -> ClaimVerifier:
    """The tool, or else the scenes that the data set has annotated."""
    tool = audit.tools.get("claim-verifier")
    if tool is None:
        from cuescope_sdk.grounding.by_scene import SceneVerifier

        return SceneVerifier()
    if not isinstance(tool, ClaimVerifier):
        raise UserError("step-grounding: the claim-verifier", expected="a tool with judge()")
    return tool


def _encoder(audit: Audit) -> SentenceEncoder:
    """The tool, or else a bag of words."""
    tool = audit.tools.get("sentence-encoder")
    if tool is None:
        from cuescope_sdk.grounding.bag import BagOfWords

        return BagOfWords()
    if not isinstance(tool, SentenceEncoder):
        raise UserError("step-grounding: the sentence-encoder", expected="a tool with encode()")
    return tool


def _tau(audit: Audit, options: "StepGrounding.Options") -> float:
    """The option's, else what was calibrated for this kind of encoder (`calibration`)."""
    if options.tau is not None:
        return options.tau
    return TAU if "sentence-encoder" in audit.tools else TAU_OF_BAG


def _title(helper: object, else_: str) -> str:
    """What a helper is called: its own title, its plugin's name, or else."""
    title = getattr(helper, "title", None)
    if isinstance(title, str) and title:
        return title
    from cuescope_sdk import Plugin

    return type(helper).__name__ if isinstance(helper, Plugin) else else_
