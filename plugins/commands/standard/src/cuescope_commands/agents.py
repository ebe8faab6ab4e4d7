"""`cuescope-mcp`: a door for agents (Model Context Protocol) over commands and their JSON.

It reads. What it may run, on which model and data, and how many model calls that may cost, is typed
by the person who starts it; an agent names none of these.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.application import Registry
from cuescope_sdk import UserError, how_to_install
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from mcp.server import MCPServer

CLI = (sys.executable, "-c", "from cuescope.cli import main; main()")
# names of plugins: no option of a command, and no file with code
NAME = re.compile(r"[a-z][a-z0-9-]*")
INSTRUCTIONS = """cuescope finds the cues that a vision model relies on. Call `methods` to see what
fits, `plan` for the cost, `audit` to find cues, `confirm` to test whether they are causes, `show`
to read a run, `explain` for a word of it. A finding of an audit is a correlation; only `confirm`
calls it a cause."""


@dataclass
class Door:
    """The folder of the runs, and what the person lets an agent run."""

    runs: Path
    model: str | None = None
    data: str | None = None
    budget: int = 0
    spent: int = field(default=0, init=False)
    _turn: Lock = field(default_factory=Lock, init=False, repr=False)

    def methods(self) -> str:
        """The installed methods, what each finds and what it lacks for this model and data."""
        return self._cuescope("methods", *self._about(), "--json")

    def runs_here(self) -> list[str]:
        """The names of the stored runs, for `show`, `compare`, `gate` and `confirm`."""
        return sorted(path.parent.name for path in self.runs.glob("*/report.json"))

    def show(self, run: str) -> str:
        """A stored run on one screen: its findings, their size, certainty and status."""
        return self._cuescope("show", self._run(run))

    def report(self, run: str) -> dict[str, Any]:
        """The report of a stored run as JSON; `cuescope dev schema report` describes it."""
        path = self._run(run) / "report.json"
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return report

    def compare(self, runs: list[str]) -> str:
        """Several stored runs beside each other, as JSON."""
        return self._cuescope("compare", *map(self._run, runs), "--json")

    def gate(self, policy: str, run: str) -> str:
        """Judge a stored run by a policy file that lies beside the runs, as JSON."""
        return self._cuescope(
            "gate", self._inside(policy), self._run(run), "--json", codes=(0, 1)
        )

    def export(self, run: str) -> str:
        """The findings of a stored run as JSON lines."""
        return self._cuescope("export", self._run(run), "--to", "jsonl", "--out", "-")

    def explain(self, word: str) -> str:
        """What a word of a report means, such as power or q, or what a method's figures are."""
        return self._cuescope("explain", "--", word)

    def plan(self, method: str) -> dict[str, Any]:
        """The cost of an audit with a method, as JSON: `model_calls` of the budget."""
        printed = self._cuescope(*self._audit(method), "--plan", "--json")
        plan: dict[str, Any] = json.loads(printed)
        return plan

    def audit(self, method: str) -> str:
        """Audit the model that the person named; the new run on one screen."""
        return self._new_run(method, self.plan(method), *self._audit(method))

    def confirm(self, run: str) -> str:
        """Test whether the cues of a stored run are causes; the verdicts on one screen."""
        words = "confirm", str(self._run(run)), *self._about()
        plan = json.loads(self._cuescope(*words, "--plan", "--json"))
        return self._new_run(f"{run}-confirmed", plan, *words)

    def left(self) -> int:
        """The model calls that are left of what the person allowed."""
        return self.budget - self.spent

    def _new_run(self, name: str, plan: dict[str, Any], *words: str | Path) -> str:
        """Run a command that makes a run of this name; the run on one screen."""
        # one after the other: two that an agent asks for at once share neither budget nor name
        with self._turn:
            most = self._most_calls(plan)
            taken = self.runs_here()
            names = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
            run = next(each for each in names if each not in taken)
            # taken before it is spent: of a command that fails nobody knows how far it came
            self.spent += most
            printed = self._cuescope(*words, "--out", self.runs / run, "--json")
            self.spent -= most - json.loads(printed)["cost"]["model_calls"]
        return f"run: {run}\n{self.show(run)}"

    def _most_calls(self, plan: dict[str, Any]) -> int:
        """The model calls that a plan allows for; raises UserError where they may be too many."""
        person = "Ask the person to"
        if plan["until"] and plan["more"] is None:
            raise UserError(
                "nobody knows how many model calls this takes",
                got=f"a plan that ends before {plan['until']}",
                remedy=f"{person} run it",
            )
        most: int = plan["model_calls"] + (plan["more"] or 0)
        if most > self.left():
            raise UserError(
                f"this takes up to {count_of(most, 'model calls')}",
                expected=f"at most {self.left():,}, what is left",
                remedy=f"{person} start cuescope-mcp with a larger --budget",
            )
        return most

    def _audit(self, method: str) -> tuple[str, ...]:
        names = [entry.name for entry in Registry().of_kind("method")]
        if not NAME.fullmatch(method) or method not in names:
            raise UserError(
                f"no method '{method}'", expected=f"one of {', '.join(names)}"
            )
        return ("audit", method, *self._about())

    def _about(self) -> tuple[str, ...]:
        if self.model is None or self.data is None:
            raise UserError(
                "nothing may be run: this door only reads",
                remedy="Ask the person to start cuescope-mcp with --model, --data and --budget",
            )
        return ("--model", self.model, "--data", self.data)

    def _run(self, name: str) -> Path:
        path = self._inside(name)
        if not (path / "report.json").is_file():
            raise UserError(
                f"no run '{name}'", expected=f"one of {', '.join(self.runs_here())}"
            )
        return path

    def _inside(self, name: str) -> Path:
        path = (self.runs / name).resolve()
        if not path.is_relative_to(self.runs.resolve()):
            raise UserError(f"'{name}' is not in the folder of the runs")
        return path

    def _cuescope(self, *words: str | Path, codes: tuple[int, ...] = (0,)) -> str:
        # a process of its own: this one speaks the protocol on its standard output
        done = subprocess.run(
            [*CLI, *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in codes:
            lines = done.stderr.strip().splitlines()
            raise UserError(lines[-1] if lines else f"cuescope {words[0]} failed")
        return done.stdout


def server_of(door: Door) -> "MCPServer":
    """The server, with a tool for each thing that the door may do."""
    try:
        from mcp.server import MCPServer
        from mcp.types import ToolAnnotations
    except ModuleNotFoundError as error:
        raise UserError(
            "cuescope-mcp needs the package 'mcp'",
            remedy=how_to_install("cuescope-commands[mcp]"),
        ) from error
    server = MCPServer("cuescope", instructions=INSTRUCTIONS)
    reads = [door.runs_here, door.show, door.report, door.compare, door.gate]
    reads += [door.export, door.explain]
    runs: list[Any] = []
    if door.model is not None:
        reads += [door.methods, door.plan, door.left]
        runs = [door.audit, door.confirm] if door.budget else []
    for tool in (*reads, *runs):
        hints = ToolAnnotations(read_only_hint=tool in reads, destructive_hint=False)
        server.tool(name=tool.__name__, annotations=hints)(_in_a_line(tool))
    return server


def _in_a_line(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, whose refusals reach the agent in their own words."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def call(*args: Any, **words: Any) -> Any:
        try:
            return tool(*args, **words)
        except UserError as error:
            raise ToolError(str(error)) from error

    return call


def serve(
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs"),
    model: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Model that may be audited.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Data set to audit it on.")
    ] = None,
    budget: Annotated[
        int, typer.Option(min=0, help="Model calls that may be made. 0: none.")
    ] = 0,
) -> None:
    """Serve stored runs to an agent over standard input and output."""
    if (model is None) != (data is None):
        raise typer.BadParameter("--model and --data: expected both or neither")
    try:
        server = server_of(Door(runs, model, data, budget))
    except UserError as error:
        typer.echo(f"cuescope-mcp: {error}", err=True)
        raise typer.Exit(2) from None
    server.run("stdio")


def main() -> None:
    """Run `cuescope-mcp`."""
    typer.run(serve)
