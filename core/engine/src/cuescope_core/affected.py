"""The samples that a cue hurts, as a manifest that the data set `folder` reads."""

import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuescope_core.conclusions import Report, Score
from cuescope_core.digest import digest
from cuescope_core.errors import UserError
from cuescope_core.types import Frame, Sample

Row = dict[str, Any]
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
BASELINE = "baseline"


def hurt_answers(
    report: Report,
    finding: Score,
    rows: Sequence[Row],
    known: Collection[str],
) -> dict[str, Row]:
    """The key of each sample that the finding's feature hurts, with its plain answer ({} if none).

    `rows` are those of `answers.parquet`, `known` the keys of the data. Hurt are the samples where
    the feature occurs that were answered wrong: those of the finding's label, or else those that
    were taken for it. Where no answer can be wrong, all samples where it occurs; where it occurs in
    no sample, those that its own trials made wrong.
    """
    plain: dict[str, Row] = {}  # by sample, what was answered to it as it is
    made_wrong: list[str] = []
    for row in rows:
        key = root(row["sample"], known)
        # a sample that has left the data, or an answer that no label judges
        if key is None or row["correct"] is None:
            continue
        if row["condition"] == BASELINE:
            plain[key] = row
        if row["feature"] == finding.feature and not row["correct"]:
            made_wrong.append(key)
    [feature] = [
        feature for feature in report.features if feature.key == finding.feature
    ]
    occurrences = [root(occurrence.sample, known) for occurrence in feature.occurrences]
    keys = [key for key in dict.fromkeys(occurrences) if key]
    if not keys:
        hurt = {
            key: plain[key]
            for key in made_wrong
            if key in plain and plain[key]["correct"]
        }
        return _with_value(hurt, "label", finding.label) if finding.label else hurt
    if plain.keys().isdisjoint(keys):
        return {key: {} for key in keys}
    wrong = {
        key: plain[key] for key in keys if key in plain and not plain[key]["correct"]
    }
    if finding.label is None:
        return wrong
    of_label = _with_value(wrong, "label", finding.label)
    return of_label or _with_value(wrong, "prediction", finding.label)


def _with_value(rows: Mapping[str, Row], column: str, value: str) -> dict[str, Row]:
    return {key: row for key, row in rows.items() if row[column] == value}


def root(key: str, known: Collection[str]) -> str | None:
    """The sample of the data that a key is, or was made of: then it continues its key after a /."""
    parts = key.split("/")
    # the longest first: a key of the data may hold a slash itself
    starts = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((start for start in starts if start in known), None)


def manifest_rows(
    samples: Mapping[str, Sample],
    answers: Mapping[str, Row],
    manifest: Path,
) -> tuple[list[Row], int]:
    """A row for each sample, paths relative to the manifest; and how many had no file.

    An image file below the manifest's folder is named where it is, another one is linked or copied
    into a folder beside the manifest. Frames of a video, and frames that were drawn, are written
    there as PNG files. Questions of which none has a picture are rows of the data set `questions`.
    """
    if not any(sample.frames for sample in samples.values()):
        return [question_row(sample, answers) for sample in samples.values()], 0
    # links followed, as `folder` does before it asks what lies inside
    home = manifest.absolute().parent.resolve()
    files = home / f"{manifest.stem}-files"
    rows: list[Row] = []
    without_file = 0
    for sample in samples.values():
        if not sample.frames:
            raise UserError(
                f"sample {sample.key} has no picture", remedy="folder cannot show it"
            )
        # keys hold slashes; the number keeps the order of the samples
        name = f"{len(rows):05d}-{digest(sample.key)[:8]}"
        without_file += None in map(_image_file, sample.frames)
        answer = answers.get(sample.key, {})
        boxes = [[box.name, *box.box] for box in sample.annotations.get("boxes", ())]
        mask = sample.annotations.get("foreground")
        mask_path = None
        if isinstance(mask, Frame):
            mask_path = _place_frame(mask, files / f"{name}-mask", home)
        row = {
            "path": _place_frames(sample.frames, files / name, home),
            "label": sample.label,
            "question": sample.question,
            "choices": list(sample.choices) or None,
            "group": sample.group,
            "mask": mask_path,
            # text: no column of Arrow holds names beside numbers
            "boxes": json.dumps(boxes) if boxes else None,
            "sample": sample.key,
            "predicted": answer.get("prediction") or answer.get("text"),
        }
        rows.append(
            {column: value for column, value in row.items() if value is not None}
        )
    return rows, without_file


def question_row(sample: Sample, answers: Mapping[str, Row]) -> Row:
    """A question without a picture, as the data set `questions` reads it."""
    answer = answers.get(sample.key, {})
    return {
        "key": sample.key,
        "video": sample.group or sample.key,
        "question": sample.question,
        "options": list(sample.choices),
        "answer": sample.label,
        # said: options that are numbers could be read as places too
        "answer_is": "text",
        "kind": sample.annotations.get("question_type"),
        "predicted": answer.get("prediction") or answer.get("text"),
    }


def _image_file(frame: Frame) -> Path | None:
    """The image file that a frame shows whole, None for a frame of a video or a drawn one."""
    source = frame.source
    if source is None or source.count != 1 or source.index or not source.path.is_file():
        return None
    return source.path if source.path.suffix.lower() in IMAGES else None


def _place_frames(frames: Sequence[Frame], place: Path, home: Path) -> str:
    """The path, inside `home`, of the frames: a file for one, a folder for several."""
    if len(frames) == 1:
        return _place_frame(frames[0], place, home)
    for number, frame in enumerate(frames):
        _place_frame(frame, place / f"{number:05d}", home, within=True)
    return place.relative_to(home).as_posix()


def _place_frame(frame: Frame, place: Path, home: Path, *, within: bool = False) -> str:
    source = _image_file(frame)
    if source is not None and not within and source.resolve().is_relative_to(home):
        return source.resolve().relative_to(home).as_posix()
    # PNG keeps every pixel: a JPEG would be another input to the model
    target = place.with_name(place.name + (source.suffix if source else ".png"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # it may be a link of an earlier export: writing into it would change the original
        target.unlink(missing_ok=True)
        if source is None:
            frame.load().save(target)
        else:
            _link(source.resolve(), target)
    except OSError as error:
        raise UserError(
            f"cannot write to {target.parent}",
            got=error.strerror,
            remedy="Choose another --out",
        ) from error
    return target.relative_to(home).as_posix()


def _link(source: Path, target: Path) -> None:
    """The same file under another name where the disk allows it, else a copy."""
    try:
        # no symbolic link: `folder` refuses one that leads out of its own folder
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
