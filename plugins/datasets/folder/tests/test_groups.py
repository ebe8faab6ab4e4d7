"""Which samples are of one source: a column, a rule on paths, a file that several rows share."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuescope_folder import Folder
from cuescope_sdk import UserError

Opener = Callable[..., Folder]
Writer = Callable[..., Path]


def groups(data: Folder) -> list[str | None]:
    return [data[index].group for index in range(len(data))]


def write_table(
    data: Path, image: Writer, rows: list[dict[str, Any]], name: str = "manifest.csv"
):
    """A manifest, and an image of another grey for each path in it."""
    for level, path in enumerate(dict.fromkeys(row["path"] for row in rows)):
        image(data / path, level * 7)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with (data / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def clips(data: Path, image: Writer) -> Path:
    """Three frames of each of three videos, one of them in both classes, and a stray image."""
    names = {"cat": ("kitchen", "garden"), "dog": ("street", "garden")}
    for label, videos in names.items():
        for place, video in enumerate(videos):
            for frame in range(3):
                image(data / label / f"{video}_clip{frame}.png", 20 * place + frame)
    image(data / "cat" / "stray.png", 99)
    return data


def test_a_rule_on_paths_names_the_group(clips: Path, opened: Opener) -> None:
    data = opened(group=r"([^/]*)_clip\d+")
    counts = Counter(groups(data))
    assert counts == {"garden": 6, "kitchen": 3, "street": 3, "cat/stray.png": 1}
    assert data.facts["groups"] == (
        r"4 of 13 samples, by the rule '([^/]*)_clip\d+'; the largest has 6; "
        "1 of several labels (garden); 1 sample without one counts by itself (cat/stray.png)"
    )
    # with the folder in it, the two gardens are two
    assert len(set(groups(opened(group=r"(.*)_clip\d+")))) == 5
    assert data.fingerprint != opened().fingerprint
    assert set(groups(opened())) == {None}
    assert "groups" not in opened().facts


def test_one_group_is_said(clips: Path, opened: Opener) -> None:
    data = opened(group="(.)")
    assert set(groups(data)) == {"c", "d"}
    assert set(groups(opened(group="[cd](a|o)"))) == {"a", "o"}
    (clips / "cat" / "stray.png").unlink()
    alone = opened(group="(clip)")
    assert set(groups(alone)) == {"clip"}
    assert "1 of 12 samples" in alone.facts["groups"]
    assert (
        "all are of 'clip', so nothing can be said beyond it" in alone.facts["groups"]
    )


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            "(.*_clip",
            r"folder: group: expected a regular expression .*, got '\(.*_clip': missing \)",
        ),
        (
            r".*_clip\d+",
            r"got '.*', which has none. Put \( \) around what names the source",
        ),
        (r"(.*)_clip(\d+)", "which has 2. Write \\(\\?: \\) for the brackets"),
        ("(.*)_klip", "which matches none of 13, such as 'cat/garden_clip0.png'"),
        ("x" * 500 + "(", "folder: group: expected a regular expression"),
    ],
)
def test_a_wrong_rule_is_one_line(
    clips: Path, opened: Opener, rule: str, message: str
) -> None:
    with pytest.raises(UserError, match=message) as refusal:
        opened(group=rule)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_a_column_names_the_group(data: Path, image: Writer, opened: Opener) -> None:
    rows = [
        {
            "path": f"{n}.png",
            "label": "ab"[n % 2],
            "group": f"p{n // 3}",
            "Patient": n % 2,
        }
        for n in range(6)
    ]
    rows[5]["group"] = ""
    write_table(data, image, rows)
    given = opened()
    assert groups(given) == ["p0", "p0", "p0", "p1", "p1", "5.png"]
    assert given.facts["groups"] == (
        "3 of 6 samples, by column 'group'; the largest has 3; 2 of several labels (p0, p1); "
        "1 sample without one counts by itself (5.png)"
    )
    assert "group" not in given[0].annotations
    patients = opened(group="Patient")
    assert groups(patients) == ["0", "1"] * 3
    assert patients[0].annotations["Patient"] == "0"
    assert groups(opened(group="path")) == [f"{n}.png" for n in range(6)]
    assert groups(opened(group=r"([0-2])|\d")) == [
        "0",
        "1",
        "2",
        "3.png",
        "4.png",
        "5.png",
    ]
    with pytest.raises(
        UserError, match=r"column \(Patient, group, label, path\) or .* Did you mean"
    ):
        opened(group="patient")


def test_rows_about_one_file_are_a_group(
    data: Path, image: Writer, opened: Opener
) -> None:
    rows = [
        {"video": f"{n // 2}.png", "question": f"How many {n}?", "answer": str(n)}
        for n in range(6)
    ]
    for n in range(3):
        image(data / f"{n}.png", n)
    with (data / "manifest.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    given = opened()
    assert groups(given) == ["0.png", "0.png", "1.png", "1.png", "2.png", "2.png"]
    assert given.facts["groups"].startswith(
        "3 of 6 samples, by file, as several rows are about one"
    )
    assert groups(opened(group="video")) == groups(given)


def test_groups_across_splits_are_said(
    data: Path, image: Writer, opened: Opener
) -> None:
    for split in ("train", "val"):
        for number, video in enumerate(("a", "b" if split == "train" else "c")):
            image(data / split / "cat" / f"{video}_1.png", number)
            image(data / split / "dog" / f"{video}_2.png", number + 9)
    shown = opened(split="val", group=r"(\w)_\d")
    assert groups(shown) == ["a", "c", "a", "c"]
    assert shown.facts["groups"].startswith("2 of 4 samples")
    assert shown.facts["groups in several splits"] == "1: a"
