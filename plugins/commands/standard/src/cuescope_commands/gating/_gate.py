"""A run, or a model that is asked, judged by a policy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from cuescope.application import Draft, Rerun, Runner, ask_again, is_made_here
from cuescope_commands.comparing._runs import load_runs
from cuescope_commands.gating._asking import Draws, judge_by_asking
from cuescope_commands.gating._judging import Verdict, judge
from cuescope_commands.gating._policy import PolicyText, read_policy
from cuescope_commands.outputs import GateResult
from cuescope_sdk import UserError


@dataclass(frozen=True)
class Judged:
    """Verdicts on the rules of a policy; `samples` is how many a model was asked about."""

    policy: Path
    verdicts: list[Verdict]
    samples: int | None

    @property
    def result(self) -> GateResult:
        """The verdicts for programs."""
        return GateResult(
            exit_code=exit_code(self.verdicts),
            samples_asked=self.samples,
            rules=tuple(verdict.row for verdict in self.verdicts),
        )


def gate(
    runner: Runner,
    rerun: Rerun,
    *,
    policy: Path,
    run: Path | None = None,
    baseline: Path | None = None,
    budget: Annotated[int, Field(ge=1)] | None = None,
) -> GateResult:
    """Judge a run by a policy, or a model by as many samples as the rules need."""
    return judge_run(runner, rerun, policy, run, baseline, budget).result


def judge_run(
    runner: Runner,
    rerun: Rerun,
    policy: Path | None,
    run: Path | None,
    baseline: Path | None,
    budget: int | None,
) -> Judged:
    """The verdicts, on a run or on the model that is named in its place."""
    # exactly one of the two is judged: a run and a model beside it would be two answers
    if policy is None or (run is None) == (rerun.model is None):
        raise UserError(
            "gate", expected="a policy and either a run or --model SPEC, or --schema"
        )
    text = read_policy(policy)
    for folder in filter(None, (run, baseline)):
        # a report by mail is somebody's word: this says so, and goes on (docs/adr/0021)
        is_made_here(folder)
    if run is not None:
        # the same rules for both: what differs is only where the answers come from
        return Judged(policy, judge(text, run, baseline), None)
    return Judged(policy, *_judge_model(runner, text, rerun, baseline, budget))


def _judge_model(
    runner: Runner,
    text: PolicyText,
    rerun: Rerun,
    baseline: Path | None,
    budget: int | None,
) -> tuple[list[Verdict], int]:
    """By asking the model; the data are those of the baseline where nobody names others."""
    if baseline is None:
        draft = Draft(
            model=rerun.model,
            data=rerun.data,
            model_options=rerun.model_options,
            data_options=rerun.data_options,
            executor=rerun.executor,
            device=rerun.device,
            batch_size=rerun.batch_size,
            seed=rerun.seed or 0,
        )
        # any method would do, none of its hooks is called
        request = runner.on_objects(draft.request("answers", {}))
        draws = Draws(runner, request, None, text.policy.error)
    else:
        held, request = ask_again(runner, baseline, rerun)
        [before] = load_runs([baseline])
        draws = Draws(held, request, before, text.policy.error)
    return judge_by_asking(text, draws, budget)


def exit_code(verdicts: list[Verdict]) -> int:
    """The exit code of the command, which a pipeline sees: 0, 1 or 3.

    2 is that of every command for what cannot be done.
    """
    outcomes = {verdict.outcome for verdict in verdicts if verdict.blocks}
    if "fail" in outcomes:
        return 1
    return 3 if "undecided" in outcomes else 0
