"""`cuescope cache`: what is kept on this computer, and how to look after it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuescope.cli.echo import echo
from cuescope.cli.options import PrintsJson
from cuescope.cli.printing import prints, prints_lines
from cuescope_core.amounts import count_of
from cuescope_core.errors import UserError, nearest

if TYPE_CHECKING:
    from cuescope.report.model_names import KeptAnswers, KeptModel

HELP = """Look after the answers that are kept on this computer.

They lie in the folder that the environment variable CUESCOPE_CACHE names, and without it in the
user's cache folder; `cuescope cache` shows which one that is."""

app = typer.Typer(help=HELP, rich_markup_mode=None)
ANSWERS = "responses.sqlite"
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Answers of this model only, as the list has it."
    ),
]


@app.callback(invoke_without_command=True)
@prints("cuescope.cli.outputs:CacheContents")
def cache(
    ctx: typer.Context,
    as_json: PrintsJson = False,
) -> None:
    """Show where answers are kept, how much room they take, and of which models they are."""
    if ctx.invoked_subcommand is not None:
        return
    from cuescope_core.context import cache_folder

    folder = cache_folder()
    sizes = _sizes(folder)
    models = _choose(_open(), None)
    if as_json:
        from cuescope.cli.outputs import CacheContents, CachedModel

        kept = []
        for model in models:
            row = CachedModel(
                name=model.name,
                answers=model.answers,
                size=model.size,
                used=model.used,
            )
            kept.append(row)
        CacheContents(folder=str(folder), files=sizes, models=tuple(kept)).show()
        return
    echo(
        f"{folder}: {_bytes(sum(sizes.values()))} (CUESCOPE_CACHE names another folder)"
    )
    for name, size in sizes.items():
        echo(f"  {_bytes(size):>9}  {name}")
    if models:
        from cuescope.cli.terminal import print_table

        rows = []
        for model in models:
            used = "-"
            if model.used is not None:
                used = time.strftime("%Y-%m-%d", time.localtime(model.used))
            rows.append((model.name, f"{model.answers:,}", _bytes(model.size), used))
        print_table(("model", "answers", "size", "last used"), rows)


@app.command("prune")
@prints_lines
def prune(
    model: Model = None,
    older_than: Annotated[
        float | None,
        typer.Option(
            metavar="DAYS",
            min=0,
            help="Answers of models not used for so many days.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would be deleted, and delete nothing."
        ),
    ] = False,
) -> None:
    """Delete kept answers, by model, by age or both; the next audit asks for them again."""
    from cuescope.report.model_names import DAY

    if model is None and older_than is None:
        raise UserError(
            "cache prune", expected="--model NAME, --older-than DAYS or both"
        )
    kept = _open()
    chosen = _choose(kept, model)
    if older_than is not None:
        # answers without a date are of before dates were kept: they count as old
        before = time.time() - older_than * DAY
        chosen = [
            kept_model for kept_model in chosen if (kept_model.used or 0) <= before
        ]
    for kept_model in chosen:
        if kept is not None and not dry_run:
            kept.forget(kept_model)
        size = _bytes(kept_model.size)
        echo(f"{kept_model.name}: {count_of(kept_model.answers, 'answers')}, {size}")
    if kept is not None and chosen and not dry_run:
        # SQLite keeps the room of deleted rows until it is told
        kept.shrink()
    echo("nothing was deleted" if dry_run or not chosen else "deleted")


@app.command("export")
@prints_lines
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file.")],
    model: Model = None,
) -> None:
    """Write kept answers into one file, for another computer or an archive."""
    if file.exists():
        raise UserError(f"{file} exists", expected="a new file")
    kept = _open()
    chosen = _choose(kept, model)
    if kept is None or not chosen:
        raise UserError("cache export: there are no answers here")
    kept.copy(chosen, file)
    count = sum(model.answers for model in chosen)
    size = _bytes(file.stat().st_size)
    echo(f"wrote {file}: {count_of(count, 'answers')} of {len(chosen)} models, {size}")


@app.command("import")
@prints_lines
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File of `cache export`.")
    ],
) -> None:
    """Take the answers of an exported file over.

    They are believed to be the models' own: import files of people whom you trust.
    """
    from cuescope.report.exported import read_export
    from cuescope.report.model_names import KeptAnswers
    from cuescope_core.context import cache_folder

    if not file.is_file():
        raise UserError(f"no file {file}", expected="a file of `cuescope cache export`")
    rows = read_export(file)
    taken, here = KeptAnswers(cache_folder() / ANSWERS).take(rows)
    echo(f"took {count_of(taken, 'rows')} from {file}" + _were_here(here))


# for data asked in parts by several drivers, each with a cache of its own (docs/scale.md)
@app.command("merge")
@prints_lines
def merge(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Cache folder of another user or computer."),
    ],
) -> None:
    """Take over all that another cache folder keeps and this one does not.

    Answers, edited images' records and texts of paid servers; what is here already stays as it is.
    Like `import`, it believes the other folder. An audit may use either of them meanwhile.
    """
    from cuescope.report.exported import read_export
    from cuescope.report.model_names import AnyCache, KeptAnswers
    from cuescope_core.context import cache_folder

    own = cache_folder()
    files = sorted(folder.rglob("*.sqlite"))
    if not files:
        raise UserError(
            f"no cache in {folder}", expected="a folder that CUESCOPE_CACHE named"
        )
    # links followed: a folder may have two names
    if folder.resolve() == own.resolve():
        raise UserError(f"{folder} is the cache itself", expected="another one")
    problems = []
    for file in files:
        name = file.relative_to(folder)
        kind = KeptAnswers if str(name) == ANSWERS else AnyCache
        try:
            taken, here = kind(own / name).take(read_export(file))
            echo(f"{name}: took {taken:,}{_were_here(here)}")
        except UserError as error:
            problems.append(error)
    if problems:
        raise problems[0]  # the others were taken over


def _were_here(count: int) -> str:
    return f" ({count:,} were here)" if count else ""


@app.command("vacuum")
@prints_lines
def vacuum() -> None:
    """Give room that nothing uses any more back to the disk."""
    from cuescope.report.model_names import AnyCache
    from cuescope_core.context import cache_folder

    folder = cache_folder()
    for file in _files_of(folder):
        name = file.relative_to(folder)
        before = _with_log(file)
        try:
            AnyCache(file).shrink()
        # one bad file: the others are looked after all the same
        except UserError as error:
            echo(f"{name}: {error}")
        else:
            echo(f"{name}: {_bytes(before)}, now {_bytes(_with_log(file))}")


def _with_log(file: Path) -> int:
    """Bytes of a file and its write-ahead log."""
    log = file.with_name(f"{file.name}-wal")
    return file.stat().st_size + (log.stat().st_size if log.exists() else 0)


def _files_of(folder: Path) -> list[Path]:
    """The cache files of a folder; a pipe of such a name is none, and would be waited for."""
    return sorted(file for file in folder.rglob("*.sqlite") if file.is_file())


def _open() -> "KeptAnswers | None":
    """The response cache, None where there is none yet."""
    from cuescope.report.model_names import KeptAnswers
    from cuescope_core.context import cache_folder

    file = cache_folder() / ANSWERS
    # to look must not make the file
    return KeptAnswers(file) if file.is_file() else None


def _choose(kept: "KeptAnswers | None", name: str | None) -> "list[KeptModel]":
    """The models of this name, all where it is None; raises UserError where there is none."""
    if kept is None:
        return []
    models = kept.models()
    # several: one name may stand for other weights, or another dtype
    chosen = [model for model in models if name in (None, model.name)]
    if name is not None and not chosen:
        known = sorted({model.name for model in models})
        raise UserError(
            f"no answers of a model '{name}' are kept",
            expected=f"one of {', '.join(known)}" if known else None,
            remedy=nearest(name, known) or "`cuescope cache` lists them",
        )
    return chosen


def _sizes(folder: Path) -> dict[str, int]:
    """Bytes of each file and folder in the cache."""
    sizes: dict[str, int] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            parts = file.relative_to(folder).parts
            name = parts[0] + "/" * (len(parts) > 1)
            sizes[name] = sizes.get(name, 0) + file.stat().st_size
    return sizes


def _bytes(size: float) -> str:
    """`1.2 MB`.

    >>> _bytes(1_200_000), _bytes(900)
    ('1.2 MB', '900 bytes')
    """
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


@app.command("repair")
@prints_lines
def repair() -> None:
    """Check every row of every cache file; of a damaged file, save what can be read."""
    from cuescope.report.model_names import AnyCache
    from cuescope_core.context import cache_folder

    folder = cache_folder()
    files = _files_of(folder)
    for file in files:
        name = file.relative_to(folder)
        try:
            # a flipped bit in an index hides a row until this reads past it (docs/adr/0014)
            kept, lost = AnyCache(file).repair()
        except UserError as error:
            echo(f"{name}: {error}")
        else:
            echo(
                f"{name}: {count_of(kept, 'rows')}"
                + (f", {lost:,} were lost" if lost else ", all sound")
            )
    if not files:
        echo(f"There is nothing in {folder}.")
    # never deleted by itself: answers may have been paid for (benchmarks/results/reliability.md)
    for file in sorted(folder.rglob("*.damaged-*")):
        # logs that were set aside with a file go when it goes
        if not file.name.endswith(("-wal", "-shm")):
            echo(
                f"{file.relative_to(folder)}: set aside; delete it when you do not need it"
            )
