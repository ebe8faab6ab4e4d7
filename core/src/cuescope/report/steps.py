"""What to do after a report, as commands to copy."""

import re
import shlex
from collections.abc import Collection

from cuescope.conclusions import Report

Step = tuple[str, str | None]
HALVED = 20  # samples with a cue: of fewer a half has too few to find it, or to test it
OWN_STEP = "next step"  # a note of the method


def command_words(command: str) -> list[str]:
    """The words of a command, also where a stored one has a quote that nothing closes.

    >>> command_words("cuescope open 'my run'"), command_words("cuescope open 'my run")
    (['cuescope', 'open', 'my run'], ['cuescope', 'open', "'my", 'run'])
    """
    try:
        return shlex.split(command)
    except ValueError:  # a stranger's report says what it likes
        return command.split()


def words_without(command: str, options: Collection[str]) -> list[str]:
    """The words of a command without some options and their values."""
    kept = []
    words = iter(command_words(command))
    for word in words:
        if word in options:
            next(words, None)  # its value
        else:
            kept.append(word)
    return kept


def with_other_model(command: str) -> str:
    """The command about a model OTHER: same data, part, options and tools, and a run of its own.

    >>> with_other_model("cuescope audit cci --model a -M b=1 --data d --tool t=x --out r")
    'cuescope audit cci --model OTHER --data d --tool t=x'
    """
    kept = words_without(command, {"-M", "--model-option", "--out", "--batch-size"})
    words: list[str] = []
    for word in kept:
        is_model = words[-1:] in (["--model"], ["-m"])
        words.append("OTHER" if is_model else word)
    return shlex.join(words)


def next_steps(report: Report, run: str = "RUN") -> list[Step]:
    """Words and the command that does it, fitting what was found; `run` is the run's folder."""
    asked = report.provenance
    if not asked.command:  # nobody copies the commands of a stranger
        return [
            ("This run was made elsewhere: it says nothing of what to type next.", None)
        ]
    # it tested another run's findings, and knows what is next
    if "run" in asked.method.options:
        own = _own_step(report, run)
        words = "See that another seed says the same: give the command again with --seed and --out."
        return [(own, None), (words, None)] if own else [(words, None)]
    if not any(score.value is not None for score in report.headlines):
        return [
            (
                "Nothing could be tested. The notes under the settings say what is missing.",
                None,
            ),
            (
                f"See what {asked.method.spec} needs:",
                f"cuescope plugins info {asked.method.spec.partition(':')[0]}",
            ),
        ]
    steps: list[Step] = []
    other = with_other_model(asked.command)
    compare = ("and set the two side by side:", f"cuescope compare {run} OTHER_RUN")
    own = _own_step(report, run)  # the method knows better
    if report.doubts and not report.findings:
        words = "Do what the refuted checks above say, and run it again:"
        steps.append((words, asked.command))
    elif own is not None:
        steps.append((own, None))
        # a method that asked none of the model has nothing to learn from another
        if report.cost.trials or report.cost.model_calls or report.cost.cache_hits:
            steps += [("See what another model does:", other), compare]
    elif report.findings:
        # without places there is nothing to look at, take out or save
        if _samples_with_first(report):
            words = "Look at the samples first: is the cue really what its name says?"
            steps.append(
                (f"{words} A finding is an association, not yet a cause.", None)
            )
            steps.append(_test_step(report, run))
            # of a method that asked nothing there are no answers to save
            if report.cost.trials:
                words = (
                    "Save the samples that the first cue hurts, to look at them and to ask "
                    "another model about them:"
                )
                export = f"cuescope export {run} --affected 1 --out affected.jsonl"
                steps.append((words, export))
        steps += [
            ("See whether another model leans on it too:", other),
            compare,
        ]
    else:
        steps += [
            (
                "See which effects would have been found with this data:",
                f"{asked.command} --plan",
            ),
            (
                "More samples find smaller effects: leave --limit out, or add data.",
                None,
            ),
        ]
    # else the command would have two seeds
    if "--seed" not in asked.command:
        steps.append(
            ("See that another seed says the same:", f"{asked.command} --seed 1")
        )
    return steps


def _own_step(report: Report, run: str) -> str | None:
    """What the method says itself; it cannot know the folder of the run, and writes RUN."""
    own = report.notes.get(OWN_STEP)
    return None if own is None else re.sub(r"\bRUN\b", lambda _: run, own)


def _test_step(report: Report, run: str) -> Step:
    """How the first cue is tested: in a half of the data, or where that has too few, by folds."""
    asked = report.provenance
    words = (
        "Test whether the cues cause the answers, by taking them out (cuescope-confirm)"
    )
    count = len(_samples_with_first(report))
    if count >= HALVED:
        return f"{words}:", f"cuescope confirm {run}"
    few = f"Only {count} sample{'s show' if count > 1 else ' shows'} the first cue."
    if asked.limit is not None:
        whole = shlex.join(words_without(asked.command, {"--limit", "--out"}))
        return f"{few} To test it, take more: leave --limit out:", whole
    if asked.part is not None:
        return f"{words}. {few}", f"cuescope confirm {run}"
    words = f"{words}. {few} So each part of the data is tested by what was found in the others:"
    return words, f"cuescope confirm {run} --folds 4"


def _samples_with_first(report: Report) -> set[str]:
    first = report.findings[0].feature
    return {
        occurrence.sample
        for feature in report.features
        if feature.key == first
        for occurrence in feature.occurrences
    }
