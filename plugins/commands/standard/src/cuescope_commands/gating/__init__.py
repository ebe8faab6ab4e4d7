"""`cuescope gate POLICY.yaml RUN`: does a run hold a policy? Pass, fail, or undecided."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cuescope.application import (
    Allow,
    AsJson,
    BatchSize,
    DataOptions,
    Device,
    Executor,
    ModelOptions,
    Quiet,
    Rerun,
    calls,
    echo,
    echo_json,
    open_runner,
    output_file,
    pairs,
    prints,
    spread,
)

command = typer.Typer(add_completion=False, rich_markup_mode=None)
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

    @property
    def rerun(self) -> Rerun:
        """The same for the functions of the application."""
        return Rerun(
            model=self.model,
            model_options=pairs("-O model.KEY", self.model_option or ()),
            data=self.data,
            data_options=pairs("-O data.KEY", self.data_option or ()),
            allow=tuple(self.allow or ()),
            executor=self.executor,
            device=self.device,
            batch_size=self.batch_size,
            seed=self.seed,
        )


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
@calls("cuescope_commands.gating._gate:gate")
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
    from cuescope_commands.gating._gate import judge_run
    from cuescope_commands.gating._policy import Policy
    from cuescope_commands.gating._reports import github_lines, write_reports

    if schema:
        echo_json(json.dumps(Policy.model_json_schema(), indent=1))
        return
    with open_runner(quiet=quiet) as runner:
        judged = judge_run(runner, asked.rerun, policy, run, baseline, asked.budget)
    # before anything is printed: a pipeline's files are there even if its log is cut off
    write_reports(reports, judged.verdicts, judged.policy)
    if as_json:
        judged.result.show()
    else:
        for verdict in judged.verdicts:
            echo(f"{verdict.word}: {verdict.name}: {verdict.sentence}")
        if judged.samples is not None:
            echo(f"the model was asked about {judged.samples:,} samples")
    if reports.github:
        for line in github_lines(judged.verdicts, judged.policy):
            echo(line)
    # after all that is written, since a pipeline reads the reports of a gate that fails
    if code := judged.result.exit_code:
        raise typer.Exit(code)
