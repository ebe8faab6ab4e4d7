"""Next steps after a report, as commands to copy."""

import re
import shlex

from cuescope_core.amounts import count_of
from cuescope_core.conclusions import OWN_STEP, Report
from cuescope_core.next_commands import Typed, command_words, data_words

Step = tuple[str, str | None]
HALVED = 20  # samples with a cue: of fewer a half has too few to find it, or to test it
# at the end of a clause: one within it is read with what follows
_COMMAND = re.compile(r"`(cuescope[ .][^`]+)`(?:[.,]|$)")


def next_steps(report: Report, run: str = "RUN") -> list[Step]:
    """Words and the command that does it, fitting what was found; `run` is the run's folder."""
    asked = report.provenance
    if not asked.command:  # nobody copies the commands of a stranger
        return [("This run is untrusted: it says nothing of what to type next.", None)]
    # it knows what is next
    if tests_a_run(report):
        return _own_steps(report, run)
    if not any(score.value is not None for score in report.headlines):
        return _after_nothing(asked.method.spec)
    following = Typed(asked.command)
    steps = _after_what_was_found(report, run, following)
    # else the command would have two seeds
    if asked.seed == 0:
        steps += _step("Repeat with another seed:", following.again(seed=1))
    return steps


def _step(words: str, command: str | None) -> list[Step]:
    """A step, none where nothing is to be typed."""
    return [] if command is None else [(words, command)]


def copyable(command: str, width: int) -> list[str]:
    """The lines of a command that a shell takes as one; an option stays with its value.

    >>> copyable("cuescope audit trove --model toy -O model.epochs=3", 24)
    ['cuescope audit trove \\\\', '  --model toy \\\\', '  -O model.epochs=3']
    """
    parts: list[str] = []
    for word in map(shlex.quote, command_words(command)):
        if parts and parts[-1].startswith("-") and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]} {part}"
        if len(longer) + 2 <= width:  # with " \" behind it
            lines[-1] = longer
        else:
            lines[-1] += " \\"
            lines.append(f"  {part}")
    return lines


def tests_a_run(report: Report) -> bool:
    """True if it is of a method that tests what another run found."""
    return "run" in report.provenance.method.options


def next_commands(report: Report, run: str, program: str) -> list[tuple[str, str]]:
    """At most two commands, and in a few words what each is for."""
    if not report.provenance.command:  # nobody copies the commands of a stranger
        return []
    own = [
        (command, "")
        for _, command in next_steps(report, run)
        if command is not None and command.startswith("cuescope")
    ]
    is_new = report.findings and not tests_a_run(report)
    if is_new and _samples_with_first(report):
        look = (
            f"cuescope show --page {shlex.quote(run)}",
            "pictures with and without it",
        )
        tests = [
            (command, "is it a cause?")
            for command, _ in own
            if command.startswith(("cuescope confirm ", "cuescope.confirm("))
        ]
        own = [look, *(tests or own)]
    return [
        (f"{program} {command.removeprefix('cuescope ')}", words)
        if command.startswith("cuescope ")
        else (command, words)
        for command, words in own[:2]
    ]


def _after_nothing(method: str) -> list[Step]:
    """Where no candidate could be tested."""
    words = "Nothing could be tested. The notes under the settings say what is missing."
    needs = f"cuescope plugins info {method.partition(':')[0]}"
    return [(words, None), (f"See what {method} needs:", needs)]


def _after_what_was_found(report: Report, run: str, following: Typed) -> list[Step]:
    """By a method that looks for cues: findings, doubts, or neither."""
    if report.doubts and not report.findings:
        words = "Do what the refuted checks above say, and run it again:"
        return [(words, following.again())]
    own = _own_steps(report, run)  # the method knows better
    if own:
        # a method that asked none of the model has nothing to learn from another
        cost = report.cost
        if not (cost.trials or cost.model_calls or cost.cache_hits):
            return own
        return [*own, *_beside_another("See what another model does:", run, following)]
    if report.findings:
        words = "See whether another model relies on it too:"
        of_samples = _with_samples(report, run, following)
        return [*of_samples, *_beside_another(words, run, following)]
    more = "More samples find smaller effects: leave --limit out, or add data."
    plan = "See which effects would have been found with this data:"
    return [*_step(plan, following.plan()), (more, None)]


def _beside_another(words: str, run: str, following: Typed) -> list[Step]:
    command = following.of_other_model()
    if command is None:
        return []
    compare = f"cuescope compare {shlex.quote(run)} OTHER_RUN"
    return [(words, command), ("and set the two side by side:", compare)]


def _with_samples(report: Report, run: str, following: Typed) -> list[Step]:
    """Look at the first finding's samples, test it, save them; of one without places, nothing."""
    if not _samples_with_first(report):
        return []
    words = (
        "Look at the samples first: is the cue really what its name says? A finding is an "
        "association, not yet a cause."
    )
    steps = [(words, None), _test_step(report, run, following)]
    export = following.export(run)
    # of a method that asked nothing there are no answers to save
    if report.cost.trials and export is not None:
        words = (
            "Save the samples that the first cue hurts, to look at them and to ask "
            "another model about them:"
        )
        steps.append((words, export))
    return steps


def _own_steps(report: Report, run: str) -> list[Step]:
    """Steps that the method names itself; it cannot know the folder of the run, and writes RUN.

    Nor the options of the data as they were typed, for which it writes DATA.

    A command stands apart from the sentence: a screen would break it where a line ends.
    """
    own = re.sub(r"\bRUN\b", lambda _: shlex.quote(run), report.notes.get(OWN_STEP, ""))
    data = data_words(report.provenance.command)
    if data is not None:
        own = re.sub(r"\bDATA\b", lambda _: data, own)
    steps: list[Step] = []
    words = ""
    for number, part in enumerate(_COMMAND.split(own)):
        if number % 2:
            steps.append((words, part))
        else:
            words = part.strip()
    return [*steps, (words, None)] if words else steps


def _test_step(report: Report, run: str, following: Typed) -> Step:
    """How the first cue is tested: in a half of the data, or where that has too few, by folds."""
    asked = report.provenance
    words = "Test whether the cues cause the answers, by taking them out"
    count = _count_with_first(report)
    if count >= HALVED:
        return f"{words}:", following.confirm(run)
    few = f"Only {count_of(count, 'samples', 'show')} the first cue."
    if asked.limit is not None:
        whole = following.again(limit=None, out=None)
        return f"{few} To test it, take more: leave --limit out:", whole
    if asked.part is not None:
        return f"{words}. {few}", following.confirm(run)
    words = f"{words}. {few} So each part of the data is tested by what was found in the others:"
    return words, following.confirm(run, folds=4)


def _samples_with_first(report: Report) -> set[str]:
    first = report.findings[0].feature
    return {
        occurrence.sample
        for feature in report.features
        if feature.key == first
        for occurrence in feature.occurrences
    }


def _count_with_first(report: Report) -> int:
    """The samples that test the first cue: of one that is about a label, those of the label."""
    first = report.findings[0]
    count = len(_samples_with_first(report))
    # a report has no labels of samples, but counts those that a score is about
    is_of_label = first.label is not None and first.n is not None
    return min(count, first.n or 0) if is_of_label else count
