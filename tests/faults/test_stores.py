"""A bit flips in what is kept: the right content comes back, or somebody says that it is wrong.

A store is a line of `STORES`: what writes it into a folder, and what reads all of it again. A
reader raises UserError for content that it refuses, and makes anew what it can make.
"""

import json
import random
import tarfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import fsspec
import numpy as np
import pytest
from jaxtyping import Float
from PIL import Image

from cuescope.cli.show import find_page
from cuescope.cue_names import give_names, read_names
from cuescope_commands.labelling._reading import _items
from cuescope_commands.labelling._sheet import write_sheet
from cuescope_confirm.options import ConfirmOptions
from cuescope_confirm.study import LISTED, folders_of
from cuescope_core.answers import AnswersFile, read_answers
from cuescope_core.checksummed_files import write_sealed
from cuescope_core.conclusions import (
    Cost,
    Feature,
    Metric,
    Occurrence,
    PluginStamp,
    Provenance,
    Report,
    Score,
)
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.mitigated import mitigator_of
from cuescope_core.runs import RunFolder, illustrations, load_report, picture_key
from cuescope_core.trust import own_runs
from cuescope_core.types import Outcome, Response, Sample, Trial
from cuescope_covar import Covar
from cuescope_covar_build.files import BuildFolder
from cuescope_folder import Folder
from cuescope_quag.simulation import training
from cuescope_sdk import Context, Frame, ImageEdit, LabelItem, StoredRun
from cuescope_sdk.data import CovarManifest, CovarRow, content_digest
from cuescope_sdk.editing import cached_editor
from cuescope_sdk.mitigation import CueRouter, Mitigation, Router
from cuescope_sdk.workers import KeptJobs
from cuescope_toy.loading import WeightsFile

if TYPE_CHECKING:
    from .conftest import Tries


@dataclass(frozen=True)
class Store:
    """`files` are those of which one bit flips, a pattern below the folder.

    `read` gives anything that `digest` takes.
    """

    write: Callable[[Path], object]
    read: Callable[[Path], object]
    files: str = "**/*"


# ----------------------------------------------------------------------------- results of benches

NUMBERS = tuple(range(12))


def thirds(number: int) -> dict[str, Any]:
    return {"label": f"number {number}", "gap": number / 3, "worst": None}


def run_jobs(folder: Path) -> object:
    jobs = {f"job {number}": partial(thirds, number) for number in NUMBERS}
    return KeptJobs(folder, ["settings", 1], workers=1).run(jobs, Context(), "results")


def run_trainings(folder: Path) -> object:
    schedule = replace(training.QUICK, train=1)
    runs = training.Runs(schedule, folder, 0, "cpu", 1)
    trainings = [training.Training(alpha, 0) for alpha in (0.1, 0.2)]
    errors = runs.errors(trainings, Context())
    return [asdict(errors[each]) for each in trainings]


# ------------------------------------------------------------------------------------------ COVAR

SIZE = (12, 16)
LABELS = ("hen", "zebra")


def digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return content_digest(content)


def covar_rows(folder: Path) -> list[CovarRow]:
    """Two objects on a background, with their masks."""
    rng, rows = np.random.default_rng(0), []
    for label in LABELS:
        pictures = {f"images/{label}.png": rng.integers(0, 256, (*SIZE, 3), np.uint8)}
        pictures[f"masks/{label}.png"] = np.eye(*SIZE, dtype=np.uint8) * 255
        for name, pixels in pictures.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(folder / name)
        image, mask = pictures
        rows.append(
            CovarRow(
                image=image,
                mask=mask,
                key=label,
                source="folder:./photos",
                source_key=f"{label}.jpg",
                group=label,
                label=label,
                background="beach",
                subset="background",
                variant="background",
                parameters="{}",
                prompt="beach",
                seed=0,
                editor="composite",
                editor_fingerprint="f",
                licence="",
                kept_exactly=True,
                image_digest=digest_of(folder / image),
                mask_digest=digest_of(folder / mask),
            )
        )
    return rows


def write_covar(folder: Path) -> None:
    CovarManifest(covar_rows(folder), LABELS).write(folder)


def read_covar(folder: Path) -> object:
    """All that a method is shown."""
    samples = []
    for sample in Covar(
        Covar.Options(path=folder), Context(cache=folder.parent / "cache")
    ):
        mask = sample.annotations["foreground"]
        pixels = [np.asarray(frame.load()) for frame in (*sample.frames, mask)]
        factors = sample.annotations["factors"]
        samples.append(
            (sample.key, sample.label, sample.choices, sample.group, factors, pixels)
        )
    return samples


SETTINGS = {"source": "folder:./photos", "seed": 0, "scales": [1.5, 2.0]}


def write_build(folder: Path) -> None:
    build = BuildFolder(folder, SETTINGS)
    build.begin()
    build.add(covar_rows(folder))


def go_on_building(folder: Path) -> object:
    """The rows of a build that goes on, where lost ones are made as they were."""
    build = BuildFolder(folder, SETTINGS)
    build.forget_changed(Context())
    made = {row.key: row for row in covar_rows(folder)}
    return [asdict(row) for row in (made | build.rows).values()]


# ------------------------------------------------------------------------------ models and remedies


@dataclass(frozen=True)
class Head(Mitigation):
    labels: tuple[str, ...]
    weights: Float[np.ndarray, "label dim"]
    scale: float
    router: Router

    def answer(self, trials: Any, ask: Any) -> list[Any]:
        return list(ask(trials))


def write_mitigation(folder: Path) -> None:
    weights = np.random.default_rng(0).normal(size=(2, 3))
    head = Head(LABELS, weights, 1 / 3, CueRouter(np.eye(3), np.zeros(3)))
    head.save(folder, mitigator="last-layer", model={"model": "f", "spec": "toy"})


def read_mitigation(folder: Path) -> object:
    return mitigator_of(folder), Head.load(folder).content()


FACTS = {"validation accuracy": "0.931", "weights": "trained on moving-shapes"}


def train_toy(folder: Path) -> object:
    """Facts as a report tells them, then the weights as the model opens them."""
    import torch

    def train() -> Any:
        weights = {
            "head": torch.arange(30.0).reshape(5, 6),
            "bias": torch.ones(5).half(),
        }
        return weights, FACTS

    file = WeightsFile("toy", "recipe", folder)
    told = file.facts() or FACTS
    weights, facts = file.load_or_train(train)
    return told, facts, {name: np.asarray(tensor) for name, tensor in weights.items()}


# ------------------------------------------------------------------------------------ edited images


class Negative:
    """An editor of one line."""

    fingerprint = "negative"

    def edit(self, edits: Any) -> list[Frame]:
        return [Frame.from_array(255 - np.asarray(each.frame.load())) for each in edits]


def edit_images(folder: Path) -> object:
    rng = np.random.default_rng(0)
    frames = [
        Frame.from_array(rng.integers(0, 256, (*SIZE, 3), np.uint8)) for _ in range(2)
    ]
    editor = cached_editor(Negative(), Context(cache=folder))
    edited = editor.edit([ImageEdit(frame, "negative", None) for frame in frames])
    return [np.asarray(frame.load()) for frame in edited]


# ---------------------------------------------------------------------------------- runs and labels

STAMP = PluginStamp(spec="toy", options={}, dist="cuescope-toy", version="0.1.0")
RUN = Report(
    title="TRoVe: toy on moving-shapes",
    metrics=(
        Metric(name="gap", title="gap", meaning="Accuracy that is lost with the cue."),
    ),
    notes={"Clusters": "1"},
    features=(
        Feature(
            key="cue",
            kind="cluster",
            occurrences=tuple(
                Occurrence(sample=f"val-{n}", strength=n / 3) for n in range(4)
            ),
        ),
    ),
    scores=(
        Score(
            metric="gap", feature="cue", label="hen", value=1 / 3, n=12, finding=True
        ),
    ),
    evidence=(),
    provenance=Provenance(
        method=STAMP,
        model=STAMP,
        data=STAMP,
        seed=0,
        limit=None,
        samples=12,
        labels=LABELS,
        device="cpu",
        dtype="float32",
        versions={"cuescope": "0.1.0"},
        command="cuescope audit trove --model toy --data moving-shapes",
        started="2025-06-01 12:00 UTC",
    ),
    cost=Cost(trials=12, model_calls=12, cache_hits=0, seconds=0.1),
)
PAGE = "<!doctype html>The cue costs a third."
NO_FIGURES: Any = SimpleNamespace(figures=())


def write_run(folder: Path) -> None:
    run = RunFolder(folder)
    run.prepare()
    answers = AnswersFile(run.answers_file)
    response = Response(np.array([1, 1 / 3], np.float32), "hen")
    samples = [
        Sample(key=f"val-{n}", frames=(), choices=LABELS, label="hen")
        for n in range(12)
    ]
    answers.answered(
        outcomes=[Outcome(Trial(sample=sample), response) for sample in samples]
    )
    answers.finish(audit=NO_FIGURES, report=RUN)
    keys = [picture_key(occurrence) for occurrence in illustrations(RUN)]
    pictures = {key: f"the JPEG of {key}".encode() for key in keys}
    run.save(RUN, pictures, page=PAGE, own=True)


def read_report(folder: Path) -> object:
    return load_report(folder, sealed=True).model_dump()


def read_rows(folder: Path) -> object:
    return read_answers(folder).to_pylist()


def read_findings(folder: Path) -> object:
    return RunFolder(folder).read("findings.parquet")


def read_pictures(folder: Path) -> object:
    """All pictures; one that is left out is told by a warning."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pictures = RunFolder(folder).pictures(load_report(folder))
    if told:
        raise UserError(str(told[0].message))
    return pictures


def read_page(folder: Path) -> object:
    return find_page(folder).read_bytes()


def write_investigation(folder: Path) -> None:
    """As `cuescope investigate` does after its runs."""
    content = {
        "runs": ["trove", "quag"],
        "left_out": {"cci": "the model has no towers"},
    }
    write_sealed(folder / LISTED, json.dumps(content).encode())


def read_investigation(folder: Path) -> object:
    runs, left_out = folders_of(ConfirmOptions(run=folder))
    return [run.name for run in runs], left_out


def label_item(number: int) -> LabelItem:
    return LabelItem(
        question="Is there a hen?",
        row={"sample": f"val-{number}"},
        column="hen",
        answers=("yes", "no"),
        sample=f"val-{number}",
        expected="yes" if number % 2 else "no",
    )


def write_labels(folder: Path) -> None:
    frame = Frame.from_array(np.zeros((*SIZE, 3), np.uint8))
    samples = {
        f"val-{number}": Sample(key=f"val-{number}", frames=(frame,))
        for number in range(6)
    }
    items = [label_item(number) for number in range(6)]
    run = cast(StoredRun, SimpleNamespace(report=RUN, samples=samples))
    write_sheet(items, run, folder, None, 0)


def read_key(folder: Path) -> object:
    return _items(folder, RUN)


def write_names(folder: Path) -> None:
    give_names(folder, RUN, {"cue": "the red wall"})


def read_warned_names(folder: Path) -> object:
    """The names; those that are left out are told by a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return read_names(folder)
        except UserWarning as told:
            raise UserError(str(told)) from told


SEAL = "5ea1" * 8


def remember_run(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUESCOPE_OWN_RUNS", str(folder))
        own_runs.remember(SEAL)


def read_place(folder: Path) -> object:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("CUESCOPE_OWN_RUNS", str(folder))
        warnings.simplefilter("error")
        try:
            return str(own_runs.asked_in(SEAL))
        except UserWarning as told:
            raise UserError(str(told)) from told


# --------------------------------------------------------------------------------- copies of data

SERVED = "memory://served"  # where the data is from


def jpeg(colour: int) -> bytes:
    file = BytesIO()
    Image.new("RGB", SIZE, (colour, 255 - colour, 0)).save(file, "JPEG")
    return file.getvalue()


def serve(files: dict[str, bytes]) -> None:
    system = fsspec.filesystem("memory")
    for name, data in files.items():
        # the server's files have one time of change
        if not system.exists(f"/served/{name}"):
            system.pipe_file(f"/served/{name}", data)


def open_folder(path: str, folder: Path) -> object:
    """All that a model is shown of the data, by way of the copies in the cache folder."""
    data = Folder(Folder.Options(path=path), Context(cache=folder))
    return [(s.key, s.label, [np.asarray(f.load()) for f in s.frames]) for s in data]


def read_shard(folder: Path) -> object:
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as shard:
        for number in range(4):
            parts = {"jpg": jpeg(60 * number), "cls": str(number % 2).encode()}
            for suffix, content in parts.items():
                member = tarfile.TarInfo(f"{number}.{suffix}")
                member.size = len(content)
                shard.addfile(member, BytesIO(content))
    serve({"train.tar": archive.getvalue()})
    return open_folder(f"{SERVED}/train.tar", folder)


STORES = {
    "rows of a shard": Store(read_shard, read_shard, "tables/*"),
    "images of a shard": Store(read_shard, read_shard, "images/*/*"),
    "report of a run": Store(write_run, read_report, "report.json"),
    "answers of a run": Store(write_run, read_rows, "answers.parquet"),
    "findings of a run": Store(write_run, read_findings, "findings.parquet"),
    "pictures of a run": Store(write_run, read_pictures, "pictures/*.jpg"),
    "page of a run": Store(write_run, read_page, "report.*"),
    "list of an investigation": Store(write_investigation, read_investigation),
    "key of a sheet of labels": Store(write_labels, read_key, "key.json*"),
    "names of cues": Store(write_names, read_warned_names),
    "where a run was asked for": Store(remember_run, read_place),
    "results of a bench": Store(run_jobs, run_jobs),
    "results of quag's bench": Store(run_trainings, run_trainings),
    "covar table": Store(write_covar, read_covar, "covar.parquet*"),
    "covar pictures": Store(write_covar, read_covar, "*/*.png"),
    "covar build": Store(write_build, go_on_building),
    "mitigated folder": Store(write_mitigation, read_mitigation),
    "mitigated stamp": Store(write_mitigation, read_mitigation, "mitigation.json"),
    "mitigated arrays": Store(write_mitigation, read_mitigation, "arrays.npz"),
    "weights of a toy": Store(train_toy, train_toy),
    "edited images": Store(edit_images, edit_images, "**/*.png"),
}


# ------------------------------------------------------------------------------------------- tests


@pytest.fixture(autouse=True)
def _no_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    """quag's trainings take minutes: here their errors are known."""

    def known(alpha: float, *others: object) -> training.Errors:
        return training.Errors(alpha / 3, 2 * alpha, 3 * alpha)

    monkeypatch.setattr(training, "train_and_test", known)


def flip(folder: Path, pattern: str, number: int) -> None:
    """Another value for one bit of one file."""
    rng = random.Random(number)
    files = sorted(
        file for file in folder.glob(pattern) if file.is_file() and file.stat().st_size
    )
    file = rng.choice(files)
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def wrong_silently(
    store: Store, whole: Path, right: str, place: Path, number: int
) -> bool:
    """Whether a flipped bit gives other content, and nobody says so in one line."""
    folder = place / str(number) / "store"
    copytree(whole, folder)
    flip(folder, store.files, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return digest(store.read(folder)) != right
        except UserError as error:
            return "\n" in str(error)  # such a line is for nobody


@pytest.mark.parametrize("name", STORES)
def test_a_flipped_bit_is_told_or_changes_nothing(
    name: str, tries: "Tries", tmp_path: Path
) -> None:
    store, whole = STORES[name], tmp_path / "whole" / "store"
    whole.mkdir(parents=True)
    store.write(whole)
    right = digest(store.read(whole))
    for number in tries(few=8, many=300):
        assert not wrong_silently(store, whole, right, tmp_path, number), number


def test_a_store_without_a_seal_is_caught(tmp_path: Path) -> None:
    """The check itself: plain JSON gives wrong numbers, and nobody says so."""

    def write_plain(folder: Path) -> None:
        (folder / "a.json").write_text(json.dumps([each / 3 for each in NUMBERS]))

    def read_plain(folder: Path) -> object:
        try:
            return json.loads((folder / "a.json").read_bytes())
        except ValueError as error:
            raise UserError("no JSON") from error

    store, whole = Store(write_plain, read_plain), tmp_path / "whole"
    whole.mkdir()
    store.write(whole)
    right = digest(store.read(whole))
    wrong = [
        wrong_silently(store, whole, right, tmp_path, number) for number in range(20)
    ]
    assert sum(wrong) > 5
