"""`cuescope blind DATA`: what of a benchmark is answered without looking; no model is needed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuescope.application import (
    ROLES,
    DataOptions,
    Device,
    DrawSeed,
    ModelOptions,
    Output,
    Pairs,
    Planned,
    ToolOptions,
    Tools,
    as_asked,
    audit_and_show,
    build_tool,
    by_role,
    echo,
    open_runner,
    output_file,
    output_folder,
    pairs,
    show_plan,
    spread,
    write_atomically,
)
from cuescope_sdk import Request, StoredRun, UserError, generator
from cuescope_sdk.report import count_of

if TYPE_CHECKING:
    from cuescope_blind.learner.meaning import Columns
    from cuescope_blind.questions import Questions
    from cuescope_sdk import Context

METHOD = "blind"
MODEL = "none"
# with a model the questions are asked of it
ASKING = "looking"
ENCODER = "sentence-encoder"
# the fewest with which p can be as low as 0.05: 1 / (19 + 1)
LEAST_DRAWS = 19
# plain help: rich would triple the time to its first line
command = typer.Typer(add_completion=False, rich_markup_mode=None)


@command.command(context_settings={"help_option_names": ["-h", "--help"]})
@spread
def blind(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Data set, NAME[:ARG].")],
    output: Output,
    data_option: DataOptions = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Ask this model too: without the video, with another, in other orders.",
        ),
    ] = MODEL,
    model_option: ModelOptions = None,
    option: Annotated[
        Pairs,
        typer.Option(
            "-O",
            metavar="KEY=VALUE",
            help="Option of the method `blind`, with a model of `looking`.",
        ),
    ] = None,
    tool: Tools = None,
    tool_option: ToolOptions = None,
    device: Device = "auto",
    out: Annotated[
        Path | None, output_folder("Folder of the run. [default: runs/...]")
    ] = None,
    hardest: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Write so many questions that are least answered without looking.",
        ),
    ] = None,
    prune: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Remove so many that are most answered without looking, beside removal by "
            "chance, and write the others.",
        ),
    ] = None,
    manifest: Annotated[
        Path | None,
        output_file(
            "Where --hardest and --prune write: a .jsonl for `questions:FILE`.",
            ".jsonl",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Take at most this many samples, drawn by seed."),
    ] = None,
    seed: DrawSeed = 0,
    plan: Planned = False,
) -> None:
    """Find out what of a benchmark is answered without looking.

    Tells (length, place, words, how common an answer is) and a learner answer the questions from
    their text alone, each video by what other videos teach. No model is asked, unless one is given:
    then it is asked the same questions without their video, with another one, and in other orders.
    """
    # before the audit: a wrong name is told now
    require_manifest(hardest, prune, manifest)
    if manifest is not None and model != MODEL:
        raise UserError(
            "--manifest with a model",
            expected="none: questions are chosen by their texts",
            remedy="Leave --model out",
        )
    asked = Request(
        method=METHOD if model == MODEL else ASKING,
        model=model,
        data=data,
        model_options=pairs("-M", model_option or ()),
        device=device,
        method_options=pairs("-O", option or ()),
        data_options=pairs("-D", data_option or ()),
        tools=pairs("--tool", tool or ()),
        tool_options=by_role(pairs("-T", tool_option or ())),
        limit=limit,
        seed=seed,
    )
    request = as_asked(asked)
    with open_runner(out=out, quiet=output.quiet, verbose=output.verbose) as runner:
        if plan:
            show_plan(runner, request, as_json=output.as_json)
            return
        audit_and_show(runner, request, as_json=output.as_json)
        if manifest is None:
            return
        run = StoredRun(runner.folder(request).path, runner.context)
        rows = hardest_rows(run, hardest) if hardest else []
        if prune is not None:
            rows, words = _prune(run, request, prune)
            # with --json the report alone is printed
            echo(words, err=output.as_json)
        write_atomically(manifest, "".join(rows))
        echo(
            f"wrote {manifest}: {count_of(len(rows), 'questions')}", err=output.as_json
        )
        echo(f"next: --data questions:{manifest}", err=output.as_json)


def require_manifest(
    hardest: int | None,
    prune: int | None,
    manifest: Path | None,
) -> None:
    """Raise UserError where an option lacks its partner, or the file would not be read back."""
    if hardest is not None and prune is not None:
        raise UserError("--hardest and --prune", expected="one of them", got="both")
    if (hardest is None and prune is None) != (manifest is None):
        missing = "--manifest FILE" if manifest is None else "--hardest N or --prune N"
        raise UserError(
            "--hardest N --manifest FILE",
            expected="both",
            got=f"no {missing}",
        )
    # `questions:FILE` chooses its reader by the suffix


def hardest_rows(run: StoredRun, count: int) -> list[str]:
    """A line of JSON a question, hardest first, by the `blind_score` of a run's answers."""
    # late: `--help` does not pay for numpy and scipy
    import numpy as np

    from cuescope_blind.scores import hardest

    questions, figures = scored_questions(run)
    scores = np.array([figures[key] for key in questions.keys])
    return _rows(run, questions, figures, hardest(questions, scores, count).tolist())


def pruned_rows(
    run: StoredRun,
    count: int,
    options: Any,
    seed: int,
    meaning: "Columns | None" = None,
) -> tuple[list[str], str]:
    """A line of JSON a question that is left, and what pruning did, in words."""
    from cuescope_blind.pruning import prune

    questions, figures = scored_questions(run)
    # without the check by redraws there is still the one by chance
    draws = options.redraws or LEAST_DRAWS
    rng = generator(seed, "prune")
    pruned = prune(questions, count, options.folds, draws, rng, meaning)
    return _rows(run, questions, figures, pruned.kept.tolist()), pruned.words


def _prune(run: StoredRun, request: Request, count: int) -> tuple[list[str], str]:
    """As `pruned_rows`, with options and encoder of the audit."""
    context = run.context
    method = context.resolve("method", METHOD, request.method_options)
    meaning = _meaning_columns(run, request, context)
    return pruned_rows(run, count, method.options, request.seed, meaning)


def _meaning_columns(
    run: StoredRun,
    request: Request,
    context: "Context",
) -> "Columns | None":
    """Of the encoder that the audit was asked with; None where there was none."""
    from cuescope_blind.learner.meaning import meaning_columns

    spec = request.tools.get(ENCODER)
    if spec is None:
        return None
    options = request.tool_options.get(ENCODER)
    encoder = build_tool(context, ROLES[ENCODER], spec, options).plugin
    questions, _ = scored_questions(run)
    return meaning_columns(questions, encoder)


def scored_questions(run: StoredRun) -> "tuple[Questions, dict[str, float]]":
    """The questions of a run, and the score of each by its key."""
    from cuescope_blind.questions import Questions

    samples = run.samples
    # other rows of the table are answers, of which a blind run has none
    figures = {}
    for row in run.answers:
        if row["condition"] == "blind_score" and row["sample"] in samples:
            figures[row["sample"]] = row["figure"]
    asked = [samples[key] for key in figures]
    if any(sample.question is None for sample in asked):
        raise UserError(
            "--manifest: these data have labels and no questions",
            expected="questions, each with options of its own",
            remedy="`cuescope export RUN --affected 1` writes the samples of a tell",
        )
    return Questions.of(asked), figures


def _rows(
    run: StoredRun,
    questions: "Questions",
    figures: Mapping[str, float],
    numbers: Sequence[int],
) -> list[str]:
    lines = []
    for number in numbers:
        sample = run.samples[questions.keys[number]]
        row = {
            "key": sample.key,
            # the group: intervals of the next audit are over whole videos again
            "video": sample.group or sample.key,
            "question": sample.question,
            "options": list(sample.choices),
            # json writes no integer of numpy
            "answer": int(questions.right[number]),
            # said, for options that are numbers could be read as text too
            "answer_is": "index",
            "kind": sample.annotations.get("question_type"),
            "blind_score": round(figures[sample.key], 4),
        }
        # questions in other scripts stay readable in an editor
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return lines
