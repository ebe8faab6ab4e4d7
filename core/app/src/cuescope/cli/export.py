"""`cuescope export RUN`: a run as a table or in a format of others, or what a cue hurts."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.bundles import RunFolder as Run
from cuescope.cli.choices import Form, What
from cuescope.cli.echo import echo
from cuescope.cli.options import (
    Allow,
    DataOptions,
    Pairs,
    TypedData,
    is_made_here,
    open_context,
)
from cuescope.cli.paths import output_file, require_ending
from cuescope.cli.printing import prints_lines
from cuescope.installing import how_to_install
from cuescope_core.amounts import count_of
from cuescope_core.atomic_files import NO_ROOM
from cuescope_core.errors import UserError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from cuescope_core.stored_run import StoredRun
    from cuescope_core.types import Sample

# in the folder of a run; its own tables are in Parquet
EXPORTS = ("*.csv", "*.jsonl", "scores.parquet", "affected-*.parquet", "export-*")


@prints_lines
def export(
    run: Run,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="csv, jsonl, parquet, or an exporter, as every-eval-ever. [default: csv, jsonl "
            "with --affected]",
        ),
    ] = None,
    what: Annotated[
        What | None,
        typer.Option(
            "--what",
            help="A row an answer, a headline score, or any score. [default: findings]",
        ),
    ] = None,
    affected: Annotated[
        str | None,
        typer.Option(
            metavar="FINDING",
            help="Write the samples that this finding hurts as a manifest for `--data folder:FILE`:"
            " its number in the report (1 is the strongest), or its name.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        output_file(
            "File, or an exporter's folder. [default: RUN/WHAT.FORMAT; - prints]",
            own=EXPORTS,
        ),
    ] = None,
    option: Annotated[
        Pairs, typer.Option("-O", metavar="KEY=VALUE", help="Option of the exporter.")
    ] = None,
    data: TypedData = None,
    data_option: DataOptions = None,
    allow: Allow = None,
) -> None:
    """Write answers or findings as a table, a run in a format of others, or what a cue hurts.

    In CSV a text that begins with = + - @ or an apostrophe has an apostrophe before it, so that no
    spreadsheet runs it as a formula. Drop one apostrophe to read such a text back.
    """
    from cuescope_core.spec import pairs
    from cuescope_core.stored_run import StoredRun

    is_table = to is None or to in [form.value for form in Form]
    if what is not None and (affected is not None or not is_table):
        raise UserError(
            f"--what {what.value}",
            expected="it for a table alone",
            got="--affected" if affected is not None else f"--to {to}",
        )
    if affected is not None and not is_table:
        raise UserError(
            "--affected", expected="--to csv, jsonl or parquet", got=f"--to {to}"
        )
    if to is not None and not is_table:
        context = open_context(data, data_option, allow)
        is_made_here(run)  # says so where it is not
        _export_as(StoredRun(run, context), to, pairs("-O", option or ()), out)
        return
    if option:
        raise UserError("-O is for exporters", remedy="Name one: --to NAME")
    if affected is not None:
        stored = StoredRun(run, open_context(data, data_option, allow))
        _export_affected(stored, affected, Form(to or "jsonl"), out)
        return
    stored = StoredRun(run)
    what = what or What.findings
    table = _table(stored, what)
    is_made_here(run)
    form = Form(to or "csv")
    if out is not None and str(out) != "-":
        require_ending("--out", out, (f".{form.value}",))
    _write(table, form, out or stored.folder / f"{what.value}.{form.value}")


def _export_as(
    run: "StoredRun", name: str, options: "dict[str, str]", out: Path | None
) -> None:
    """By a plugin, into a folder of its own; raises UserError where there is no such format."""
    known = [entry.name for entry in run.context.registry.of_kind("exporter")]
    if name not in known:
        formats = [*(form.value for form in Form), *sorted(known)]
        raise UserError(
            f"export --to {name}",
            expected=", ".join(formats),
            remedy=nearest(name, formats) or how_to_install("cuescope-exporters"),
        )
    exporter = run.context.build("exporter", name, options)
    folder = out or run.place(f"export-{name}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = list(exporter.export(run, folder))
    except OSError as error:
        # what cannot be read is told by what reads it
        if error.errno not in NO_ROOM:
            raise
        raise UserError(
            f"cannot write to {folder}",
            got=error.strerror,
            remedy="Make room on the disk, or choose another folder with --out",
        ) from error
    for path in written:
        echo(f"wrote {path}")


def _table(run: "StoredRun", what: What) -> "pa.Table":
    from cuescope_core.answers import read_answers
    from cuescope_core.findings import SCORES, as_table, findings_table, score_rows

    if what is What.answers:
        return read_answers(run.folder)
    if what is What.findings:
        return findings_table(run.report)
    return as_table(score_rows(run.report), SCORES)


def _write(table: "pa.Table", form: Form, out: Path) -> None:
    from cuescope.report.export import encode
    from cuescope_core.runs import write_atomically

    data = encode(table, form.value)
    if str(out) == "-":
        # as it is, not by `echo`: `-` feeds another program
        typer.echo(data, nl=False)
        return
    if not (
        form is Form.parquet and out.name in ("answers.parquet", "findings.parquet")
    ):
        # else it is the run's own file, which is there already
        write_atomically(out, data)
    echo(f"wrote {out}: {count_of(table.num_rows, 'rows')}")


def _export_affected(
    run: "StoredRun",
    wanted: str,
    form: Form,
    out: Path | None,
) -> None:
    import pyarrow as pa

    from cuescope.report.export import encode, safe_text
    from cuescope_core.affected import hurt_answers, manifest_rows
    from cuescope_core.findings import find_finding
    from cuescope_core.runs import write_atomically

    report = run.report
    finding = find_finding(report, wanted)
    number = report.findings.index(finding) + 1
    name = report.names[finding.feature]
    about = f"finding {number}, {name}" + (
        f", '{finding.label}'" if finding.label else ""
    )
    answers = hurt_answers(report, finding, run.answers, run.samples.keys())
    if not answers:
        raise UserError(
            f"{about} hurts no sample of its own",
            expected="samples of the data where it occurs that were answered wrong",
            got="none",
        )
    samples = {key: run.samples[key] for key in answers}
    manifest = out or run.folder / f"affected-{number}.{form.value}"
    if out is None:
        run.place(f"{manifest.stem}-files")
    # `folder` tells a manifest by its ending
    require_ending("--out", manifest, (f".{form.value}",))
    written, drawn = manifest_rows(samples, answers, manifest)
    # `folder` reads it back, and would take the apostrophe for a part of the data
    texts = [text for row in written for text in row.values() if isinstance(text, str)]
    risky = [text for text in texts if text != safe_text(text)]
    if form is Form.csv and risky:
        raise UserError(
            f"a CSV manifest would change {risky[0]!r}",
            got="a text that a spreadsheet takes for a formula",
            remedy=f"Take --to jsonl ({safe_text(risky[0])!r} is how a CSV would have it)",
        )
    # rows leave out what they lack, and pyarrow goes by the first row
    columns = dict.fromkeys(column for row in written for column in row)
    table = pa.Table.from_pylist(
        [{name: row.get(name) for name in columns} for row in written]
    )
    write_atomically(manifest, encode(table, form.value))
    echo(f"wrote {manifest}: {count_of(len(written), 'samples')} of {about}")
    if drawn:
        files = manifest.with_name(f"{manifest.stem}-files")
        echo(f"{drawn:,} have no image file of their own: their frames are in {files}")
    # a stranger's run has no command, and one from Python none that a shell takes
    if report.provenance.command.startswith("cuescope "):
        echo(_next_audit(run, manifest, samples))


def _next_audit(
    run: "StoredRun",
    manifest: Path,
    samples: "dict[str, Sample]",
) -> str:
    """The run's own command, on these samples; of a log, which knows no part, another model's."""
    from cuescope_core.next_commands import words_without

    command = run.report.provenance.command
    # the manifest stands for all of the data, its options, part and limit too
    unsaid = {"--data", "--limit", "--part", "--model"}
    longest = max(len(sample.frames) for sample in samples.values())
    words = words_without(command, unsaid, "data.", "model.")
    words += ["--model", "OTHER", "--data"]
    words.append(f"{'folder' if longest else 'questions'}:{manifest}")
    # `folder` takes 8 frames of a clip where nothing is said
    words += ["-O", f"data.frames={longest}"] if longest > 1 else []
    return f"next, with a model for OTHER: {shlex.join(words)}"
