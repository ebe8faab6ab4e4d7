"""`cuescope gate POLICY.yaml RUN`: does a run hold a policy? Pass, fail, or undecided."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.application import (
    Allow,
    AsJson,
    AskedAgain,
    Asking,
    BatchSize,
    DataOptions,
    Device,
    Executor,
    ModelOptions,
    Quiet,
    ask_again,
    echo,
    echo_json,
    is_made_here,
    open_runner,
    output_file,
    prints,
    spread,
)
from cuescope_sdk import UserError

if TYPE_CHECKING:
    from cuescope_commands.gating._judging import Verdict
    from cuescope_commands.gating._policy import PolicyText

command = typer.Typer(add_completion=False, rich_markup_mode=None)
# beside 2, which every command has for what cannot be done
FAILED = 1
UNDECIDED = 3
# GitHub's file of a step's summary has no ending
MARKDOWN = (".md", ".markdown", "")


@dataclass(frozen=True)
class Model:
    """A model that the gate asks, sample after sample, in the place of a stored run."""

    model: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC", help="Ask this model, as many samples as the rules need."
        ),
    ] = None
    model_option: ModelOptions = None
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Its data. [default: those of --baseline]"),
    ] = None
    data_option: DataOptions = None
    budget: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Ask about at most so many samples."),
    ] = None
    executor: Executor = None
    device: Device = "auto"
    batch_size: BatchSize = 64
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the order in which samples are asked.")
    ] = None
    allow: Allow = None


@dataclass(frozen=True)
class Reports:
    """What the verdicts are written to."""

    junit: Annotated[Path | None, output_file("Write JUnit XML here.", ".xml")] = None
    sarif: Annotated[
        Path | None, output_file("Write SARIF 2.1.0 here.", ".sarif", ".json")
    ] = None
    code_quality: Annotated[
        Path | None,
        output_file("Write GitLab's code quality JSON here.", ".json"),
    ] = None
    markdown: Annotated[
        Path | None, output_file("Add a table in Markdown here.", *MARKDOWN)
    ] = None
    github: Annotated[
        bool, typer.Option("--github", help="Print ::error lines for GitHub.")
    ] = False


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
@prints("cuescope_commands.outputs:GateResult")
def gate(
    asked: Model,
    reports: Reports,
    policy: Annotated[
        Path | None, typer.Argument(metavar="POLICY.yaml", help="The rules.")
    ] = None,
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="The folder of a run.")
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The run before, for rules of growth."),
    ] = None,
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the policy's JSON schema, for editors."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge a run by a policy: exit 0 where all rules pass, 1 where one fails, 3 if undecided.

    A rule is undecided where the run cannot tell. That is never a pass, unless the rule says so
    (undecided: pass). 2 is for what cannot be judged: a policy that is none, a run that is gone.
    With --model in the place of RUN the model is asked about as many samples as the rules need.
    """
    from cuescope_commands.gating._judging import judge
    from cuescope_commands.gating._policy import Policy, read_policy
    from cuescope_commands.gating._reports import github_lines, write_reports
    from cuescope_commands.outputs import GateResult

    if schema:
        echo_json(json.dumps(Policy.model_json_schema(), indent=1))
        return
    # exactly one of the two is judged: a run and a model beside it would be two answers
    if policy is None or (run is None) == (asked.model is None):
        raise UserError(
            "gate", expected="a policy and either a run or --model SPEC, or --schema"
        )
    text = read_policy(policy)
    for folder in filter(None, (run, baseline)):
        # a report by mail is somebody's word: this says so, and goes on (docs/adr/0021)
        is_made_here(folder)
    count = None
    if run is None:
        verdicts, count = judge_model(text, asked, baseline, quiet=quiet)
    else:
        # the same rules for both: what differs is only where the answers come from
        verdicts = judge(text, run, baseline)
    # before anything is printed: a pipeline's files are there even if its log is cut off
    write_reports(reports, verdicts, policy)
    if as_json:
        result = GateResult(
            exit_code=exit_code(verdicts),
            samples_asked=count,
            rules=tuple(verdict.row for verdict in verdicts),
        )
        result.show()
    else:
        for verdict in verdicts:
            echo(f"{verdict.word}: {verdict.name}: {verdict.sentence}")
        if count is not None:
            echo(f"the model was asked about {count:,} samples")
    if reports.github:
        for line in github_lines(verdicts, policy):
            echo(line)
    # after all that is written, since a pipeline reads the reports of a gate that fails
    if code := exit_code(verdicts):
        raise typer.Exit(code)


def judge_model(
    text: "PolicyText", asked: Model, baseline: Path | None, *, quiet: bool
) -> "tuple[list[Verdict], int]":
    """By asking the model; the data are those of the baseline where nobody names others."""
    from cuescope_commands.comparing._runs import load_runs
    from cuescope_commands.gating._asking import Draws, judge_by_asking

    way: dict[str, Any] = {
        "model": asked.model,
        "model_option": asked.model_option,
        "data": asked.data,
        "data_option": asked.data_option,
        "executor": asked.executor,
        "device": asked.device,
        "batch_size": asked.batch_size,
    }
    with open_runner(quiet=quiet) as runner:
        if baseline is None:
            # any method would do, none of its hooks is called
            request = Asking(**way, seed=asked.seed or 0).request("answers", {})
            draws = Draws(runner, request, None, text.policy.error)
            return judge_by_asking(text, draws, asked.budget)
        again = AskedAgain(**way, seed=asked.seed, allow=asked.allow)
        held, request = ask_again(runner, baseline, again)
        [before] = load_runs([baseline])
        draws = Draws(held, request, before, text.policy.error)
        return judge_by_asking(text, draws, asked.budget)


def exit_code(verdicts: "list[Verdict]") -> int:
    """What a pipeline sees."""
    outcomes = {verdict.outcome for verdict in verdicts if verdict.blocks}
    if "fail" in outcomes:
        return FAILED
    return UNDECIDED if "undecided" in outcomes else 0
