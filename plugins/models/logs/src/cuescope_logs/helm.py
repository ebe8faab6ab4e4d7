"""HELM: the folder of a run, with `scenario_state.json` and the figures beside it."""

from pathlib import Path
from typing import Any

from cuescope_logs.values import as_list, as_mapping, as_text
from cuescope_sdk import UserError
from cuescope_sdk.logs import (
    Log,
    LogReader,
    Record,
    first_bytes,
    json_document,
    letter_index,
)

STATE = "scenario_state.json"
FIGURES = "per_instance_stats.json"
SPEC = "run_spec.json"
EXACT = ("exact_match", "quasi_exact_match")


class HelmLog(LogReader):
    """A request an answer; another trial of an instance is the same question again."""

    title = "helm"

    @classmethod
    def fits(cls, path: Path) -> bool:
        """The folder of a run, or its file of requests."""
        if path.is_dir():
            return (path / STATE).is_file()
        return path.name == STATE and b'"adapter_spec"' in first_bytes(path, 2**16)

    def read(self, path: Path) -> Log:
        """The requests of the run, and the harness's own judgement of each."""
        folder = path if path.is_dir() else path.parent
        document = as_mapping(json_document(folder / STATE, self.title))
        right = _judgements(folder, self.title)
        records = []
        failed = 0
        for number, state in enumerate(
            as_list(document.get("request_states")), start=1
        ):
            record = read_state(
                as_mapping(state), f"{self.title}: request {number}", right
            )
            if record is None:
                failed += 1
            else:
                records.append(record)
        spec = as_mapping(_beside(folder / SPEC, self.title))
        adapter = as_mapping(document.get("adapter_spec"))
        known = [record.right for record in records if record.right is not None]
        scores = {"exact_match": sum(known) / len(known)} if known else {}
        return Log(
            title=as_text(spec.get("name")) or folder.name,
            records=tuple(records),
            model=as_text(adapter.get("model")) or None,
            scores=scores,
            left_out={"failed, or were asked in another way": failed} if failed else {},
        )


def read_state(
    state: dict[str, Any],
    place: str,
    right: dict[tuple[str, int], bool],
) -> Record | None:
    """One request; None for one that failed. Raises UserError that begins with `place`."""
    instance = as_mapping(state.get("instance"))
    key = as_text(instance.get("id"))
    if not key:
        raise UserError(f"{place} 'id'", expected="the id of an instance", got="none")
    # a perturbed instance has the id of the plain one, and was not asked plainly
    if instance.get("perturbation") is not None:
        return None
    completions = as_list(as_mapping(state.get("result")).get("completions"))
    if as_mapping(state.get("result")).get("success") is not True or not completions:
        return None
    mapping = as_mapping(state.get("output_mapping"))
    choices = [as_text(mapping[letter]).strip() for letter in sorted(mapping)]
    said = as_text(as_mapping(completions[0]).get("text"))
    references = map(as_mapping, as_list(instance.get("references")))
    correct = [r for r in references if "correct" in as_list(r.get("tags"))]
    label = None
    # which of several right answers is meant nobody can say
    if len(correct) == 1:
        label = as_text(as_mapping(correct[0].get("output")).get("text")).strip()
    question, images = _question(as_mapping(instance.get("input")))
    trial = state.get("train_trial_index")
    epoch = trial if isinstance(trial, int) else 0
    return Record(
        key=key,
        epoch=epoch,
        said=said,
        question=question,
        choices=tuple(choices),
        label=choices.index(label) if label in choices else label,
        answer=letter_index(said.strip(), len(choices)),
        right=right.get((key, epoch)),
        images=images,
        annotations={"split": instance.get("split")},
    )


def _question(given: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The text of an instance's input, and its pictures."""
    parts = as_list(as_mapping(given.get("multimedia_content")).get("media_objects"))
    texts = [as_text(given.get("text"))]
    images = []
    for part in map(as_mapping, parts):
        if as_text(part.get("content_type")).startswith("image/"):
            images.append(as_text(part.get("location")))
        else:
            texts.append(as_text(part.get("text")))
    return "\n".join(filter(None, texts)), tuple(filter(None, images))


def _judgements(folder: Path, title: str) -> dict[tuple[str, int], bool]:
    """Whether each answer counted, by instance and trial; {} without the file."""
    right: dict[tuple[str, int], bool] = {}
    for entry in map(as_mapping, as_list(_beside(folder / FIGURES, title))):
        trial = entry.get("train_trial_index")
        if entry.get("perturbation") is not None or not isinstance(trial, int):
            continue
        means = {}
        for figure in map(as_mapping, as_list(entry.get("stats"))):
            about = as_mapping(figure.get("name"))
            if about.get("perturbation") is None:
                means[as_text(about.get("name"))] = figure.get("mean")
        own = [means[name] for name in EXACT if name in means]
        if own:
            right[as_text(entry.get("instance_id")), trial] = own[0] == 1
    return right


def _beside(file: Path, title: str) -> Any:
    return json_document(file, title) if file.is_file() else None
