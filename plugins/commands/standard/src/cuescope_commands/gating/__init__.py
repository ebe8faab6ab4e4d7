"""`cuescope gate POLICY.yaml RUN`: does a run hold a policy? Pass, fail, or undecided."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.application import AsJson, echo, echo_json, is_made_here
from cuescope_sdk import UserError

if TYPE_CHECKING:
    from cuescope_commands.gating._judging import Verdict

command = typer.Typer(add_completion=False, rich_markup_mode=None)
# beside 2, which every command has for what cannot be done
FAILED = 1
UNDECIDED = 3


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
def gate(
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
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML here.")
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0 here.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add a table in Markdown here.")
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Print ::error lines for GitHub.")
    ] = False,
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the policy's JSON schema, for editors."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Judge a run by a policy: exit 0 where all rules pass, 1 where one fails, 3 if undecided.

    A rule is undecided where the run cannot tell. That is never a pass, unless the rule says so
    (undecided: pass). 2 is for what cannot be judged: a policy that is none, a run that is gone.
    """
    from cuescope_commands.gating._judging import judge
    from cuescope_commands.gating._policy import Policy, read_policy
    from cuescope_commands.gating._reports import (
        append_markdown,
        github_lines,
        junit_xml,
        sarif_json,
    )

    if schema:
        echo_json(json.dumps(Policy.model_json_schema(), indent=1))
        return
    if policy is None or run is None:
        raise UserError("gate", expected="a policy and a run, or --schema")
    for folder in filter(None, (run, baseline)):
        # a report by mail is somebody's word: this says so, and goes on (docs/adr/0021)
        is_made_here(folder)
    text = read_policy(policy)
    verdicts = judge(text, run, baseline)
    for file, content in (
        (junit, junit_xml(verdicts, policy)),
        (sarif, sarif_json(verdicts, policy)),
    ):
        if file is not None:
            write(file, content)
    if markdown is not None:
        append_markdown(markdown, verdicts, policy)
    if as_json:
        rows = [verdict.row for verdict in verdicts]
        echo_json(
            json.dumps({"exit_code": exit_code(verdicts), "rules": rows}, indent=1)
        )
    else:
        for verdict in verdicts:
            echo(f"{verdict.word}: {verdict.name}: {verdict.sentence}")
    if github:
        for line in github_lines(verdicts, policy):
            echo(line)
    if code := exit_code(verdicts):
        raise typer.Exit(code)


def exit_code(verdicts: "list[Verdict]") -> int:
    """What a pipeline sees."""
    outcomes = {verdict.outcome for verdict in verdicts if verdict.blocks}
    if "fail" in outcomes:
        return FAILED
    return UNDECIDED if "undecided" in outcomes else 0


def write(file: Path, content: str) -> None:
    """A report, whole or not at all."""
    from cuescope.application import write_atomically

    write_atomically(file, content)
