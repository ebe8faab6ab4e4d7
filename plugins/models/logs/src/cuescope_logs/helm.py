"""HELM: the folder of a run, with `scenario_state.json` and the figures beside it."""

from pathlib import Path
from typing import Any

from cuescope_logs.values import (
    as_list,
    as_mapping,
    as_number,
    as_text,
    list_at,
    mapping_at,
    text_at,
)
from cuescope_sdk import UserError
from cuescope_sdk.logs import Choices, Log, LogFile, LogReader, Record

STATE = "scenario_state.json"
FIGURES = "per_instance_stats.json"
STATS = "stats.json"
SPEC = "run_spec.json"
# in this order: the strict figure counts where a run has both
EXACT = ("exact_match", "quasi_exact_match")


class HelmLog(LogReader):
    """A request an answer; another trial of an instance is the same question again."""

    title = "helm"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """The folder of a run, or its file of requests."""
        if path.is_dir():
            return (path / STATE).is_file()
        if path.name != STATE:
            return False
        return b'"adapter_spec"' in LogFile(path).first_bytes(2**16)

    def read(self, path: Path) -> Log:
        """The requests of the run, and the harness's own judgement of each."""
        folder = path if path.is_dir() else path.parent
        requests = LogFile(folder / STATE, self.title)
        # the folder may be a stranger's, and any of its files a link
        requests.beside(STATE)
        document = as_mapping(requests.json_document())
        figures = _figures(requests)
        records = []
        failed = 0
        for number, state in enumerate(list_at(document, "request_states"), start=1):
            place = f"{self.title}: request {number}"
            record = read_state(as_mapping(state), place, figures)
            if record is None:
                failed += 1
            else:
                records.append(record)
        spec = as_mapping(_beside(requests, SPEC))
        adapter = mapping_at(document, "adapter_spec")
        return Log(
            title=text_at(spec, "name") or folder.name,
            records=tuple(records),
            model=text_at(adapter, "model") or None,
            scores=_means(as_list(_beside(requests, STATS))),
            left_out={"failed, or were asked in another way": failed} if failed else {},
            errors=failed,
            # HELM's exact matches count what is equal
            higher_is_better=dict.fromkeys(EXACT, True),
        )


def read_state(
    state: dict[str, Any],
    place: str,
    figures: dict[tuple[str, int], dict[str, float]],
) -> Record | None:
    """One request; None for one that failed. Raises UserError that begins with `place`."""
    instance = mapping_at(state, "instance")
    key = text_at(instance, "id")
    if not key:
        raise UserError(f"{place} 'id'", expected="the id of an instance", got="none")
    # a perturbed instance has the id of the plain one, and was not asked plainly
    if instance.get("perturbation") is not None:
        return None
    result = mapping_at(state, "result")
    completions = list_at(result, "completions")
    if result.get("success") is not True or not completions:
        return None
    mapping = mapping_at(state, "output_mapping")
    # by letter: `letter_index` below counts them so
    choices = [as_text(mapping[letter]).strip() for letter in sorted(mapping)]
    said = text_at(completions[0], "text")
    label = _right_answer(list_at(instance, "references"))
    question, images = _question(mapping_at(instance, "input"))
    trial = state.get("train_trial_index")
    epoch = trial if isinstance(trial, int) else 0
    return Record(
        key=key,
        epoch=epoch,
        said=said,
        question=question,
        choices=tuple(choices),
        label=choices.index(label) if label in choices else label,
        answer=Choices.letter_index(said.strip(), len(choices)),
        figures=figures.get((key, epoch), {}),
        images=images,
        annotations={"split": instance.get("split")},
    )


def _right_answer(references: list[Any]) -> str | None:
    """The text of the one that is correct; None where there are several, or none."""
    correct = [
        reference for reference in references if "correct" in list_at(reference, "tags")
    ]
    # which of several right answers is meant nobody can say
    if len(correct) != 1:
        return None
    return text_at(mapping_at(correct[0], "output"), "text").strip()


def _question(given: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The text of an instance's input, and its pictures."""
    parts = list_at(mapping_at(given, "multimedia_content"), "media_objects")
    texts = [text_at(given, "text")]
    images = []
    for part in map(as_mapping, parts):
        if text_at(part, "content_type").startswith("image/"):
            images.append(text_at(part, "location"))
        else:
            texts.append(text_at(part, "text"))
    return "\n".join(filter(None, texts)), tuple(filter(None, images))


def _figures(requests: LogFile) -> dict[tuple[str, int], dict[str, float]]:
    """The exact matches of each answer, by instance and trial; {} without the file."""
    figures = {}
    for entry in map(as_mapping, as_list(_beside(requests, FIGURES))):
        trial = entry.get("train_trial_index")
        if entry.get("perturbation") is None and isinstance(trial, int):
            means = _means(list_at(entry, "stats"))
            figures[text_at(entry, "instance_id"), trial] = means
    return figures


def _means(stats: list[Any]) -> dict[str, float]:
    """The strict figures of a list of statistics, first the one that counts."""
    means = {}
    for figure in map(as_mapping, stats):
        about = mapping_at(figure, "name")
        mean = as_number(figure.get("mean"))
        # a figure of the perturbed input has the same name, and would take its place
        if about.get("perturbation") is None and mean is not None:
            means[text_at(about, "name")] = mean
    return {name: means[name] for name in EXACT if name in means}


def _beside(requests: LogFile, name: str) -> Any:
    file = requests.beside(name)
    return None if file is None else file.json_document()
