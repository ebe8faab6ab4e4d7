"""The door of the application: for commands and benches that other packages bring.

An entry point of the group `cuescope.commands` names a `typer.Typer`, one of `cuescope.benches` a
`Bench`. Both run audits and show results, so they stand above the application and may import this
door. Plugins of other kinds may not: they import `cuescope_sdk` alone.
"""

from cuescope.cli.audit import show_result
from cuescope.cli.bundles import (
    Asked,
    AskedAgain,
    Asking,
    Folds as FoldsOption,
    Output,
    RunFolder as Run,
    spread,
)
from cuescope.cli.echo import echo, echo_json, echo_lines
from cuescope.cli.fitting import known_roles
from cuescope.cli.options import (
    DATA,
    MODEL,
    RUNS,
    Allow,
    AsJson,
    BatchSize,
    DataOptions,
    Device,
    DrawSeed,
    Dtype,
    Executor,
    ModelOptions,
    Pairs,
    Planned,
    PrintsJson,
    Quiet,
    ToolOptions,
    Tools,
    TypedData,
    announce,
    by_role,
    is_made_here,
    open_context,
    open_runner,
)
from cuescope.cli.outputs import JsonOutput
from cuescope.cli.paths import (
    OutputFile,
    OutputFolder,
    output_file,
    output_folder,
    page_file,
)
from cuescope.cli.planning import show_plan
from cuescope.cli.printing import calls, prints, prints_lines
from cuescope.cli.program import program
from cuescope.cli.terminal import stdout
from cuescope.cue_names import give_names, read_names, renamed
from cuescope.expected_samples import expected_samples
from cuescope.held_out import (
    Folds,
    HeldOut,
    apart,
    complement,
    find_then_test,
    in_folds,
    require_whole,
)
from cuescope.python.stored import StoredReport, UnfinishedError
from cuescope.report import bench_page
from cuescope.report.csv_files import write_csv
from cuescope.report.export import safe_text
from cuescope.report.figures import figure, with_ends
from cuescope.report.folders import refuse_another_audit
from cuescope.report.listing import ListedRun, list_run, report_files
from cuescope.report.pictures import draw_occurrence, stored_picture
from cuescope.report.screen import cue_claims, cue_name
from cuescope.report.steps import next_steps
from cuescope.report.tables import render_table
from cuescope.report.words import Words
from cuescope.rerun import Rerun, ask_again, beside, require_same_data
from cuescope.runner import Runner
from cuescope.warn_once import warn_once
from cuescope_core.affected import root
from cuescope_core.amounts import duration
from cuescope_core.atomic_files import read_whole, write_atomically
from cuescope_core.building import (
    Choices,
    build,
    build_tool,
    find_installed,
    require_openable,
)
from cuescope_core.capabilities import ROLES
from cuescope_core.context import cache_folder
from cuescope_core.errors import reason_of, with_article
from cuescope_core.next_commands import command_words
from cuescope_core.planning import Plan
from cuescope_core.printable import whole_text
from cuescope_core.registry import Entry, Registry
from cuescope_core.request import Draft, make_draft
from cuescope_core.runs import (
    RunFolder,
    exhibit_key,
    load_report,
    picture_key,
    require_undamaged,
    source_of,
)
from cuescope_core.spec import Spec, fault, pairs, validate
from cuescope_core.types import Value

__all__ = [
    "Draft",
    "FoldsOption",
    "OutputFolder",
    "Rerun",
    "StoredReport",
    "UnfinishedError",
    "calls",
    "expected_samples",
    "make_draft",
    "show_result",
    "warn_once",
    "DATA",
    "MODEL",
    "ROLES",
    "RUNS",
    "Allow",
    "AsJson",
    "Asked",
    "AskedAgain",
    "Asking",
    "BatchSize",
    "Choices",
    "DataOptions",
    "Device",
    "DrawSeed",
    "Dtype",
    "Entry",
    "Executor",
    "Folds",
    "JsonOutput",
    "ListedRun",
    "ModelOptions",
    "Output",
    "OutputFile",
    "Pairs",
    "Plan",
    "Planned",
    "PrintsJson",
    "Quiet",
    "Registry",
    "Run",
    "RunFolder",
    "Runner",
    "Spec",
    "ToolOptions",
    "Tools",
    "TypedData",
    "Value",
    "Words",
    "announce",
    "apart",
    "in_folds",
    "HeldOut",
    "ask_again",
    "bench_page",
    "beside",
    "build",
    "build_tool",
    "by_role",
    "cache_folder",
    "command_words",
    "complement",
    "cue_claims",
    "cue_name",
    "draw_occurrence",
    "duration",
    "echo",
    "echo_json",
    "echo_lines",
    "exhibit_key",
    "fault",
    "figure",
    "find_then_test",
    "give_names",
    "find_installed",
    "is_made_here",
    "known_roles",
    "list_run",
    "load_report",
    "next_steps",
    "open_runner",
    "output_file",
    "output_folder",
    "page_file",
    "pairs",
    "picture_key",
    "prints",
    "prints_lines",
    "program",
    "read_names",
    "read_whole",
    "reason_of",
    "refuse_another_audit",
    "renamed",
    "render_table",
    "report_files",
    "require_openable",
    "require_same_data",
    "require_undamaged",
    "require_whole",
    "root",
    "safe_text",
    "show_plan",
    "source_of",
    "spread",
    "stdout",
    "stored_picture",
    "open_context",
    "validate",
    "with_ends",
    "write_atomically",
    "whole_text",
    "write_csv",
    "with_article",
]
