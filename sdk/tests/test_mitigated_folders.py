"""A folder of what was learned: changed files, strangers' values and lying arrays are one line."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float

from cuescope_core.mitigated import STAMP, mitigator_of, read_stamp, write_mitigated
from cuescope_sdk import UserError
from cuescope_sdk.mitigation import CueRouter, Mitigation, Router
from cuescope_sdk.mitigation._mitigation import ARRAYS


@dataclass(frozen=True)
class Learned(Mitigation):
    labels: tuple[str, ...]
    weights: Float[np.ndarray, "label dim"]
    bias: Float[np.ndarray, " label"]
    scale: float
    everywhere: bool
    router: Router

    def answer(self, trials: Any, ask: Any) -> list[Any]:
        return list(ask(trials))

    def files(self) -> Mapping[str, bytes]:
        return {"table.csv": b"label,bias\n"}


LEARNED = Learned(
    ("top", "bottom"),
    np.arange(6.0).reshape(2, 3),
    np.ones(2),
    0.1 + 0.2,
    True,
    CueRouter(np.eye(3), np.zeros(3)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    LEARNED.save(tmp_path, mitigator="last-layer", model={"model": "f", "spec": "toy"})
    return tmp_path


def packed(**arrays: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def arrays_of(folder: Path) -> dict[str, np.ndarray]:
    with np.load(folder / ARRAYS) as arrays:
        return dict(arrays)


def rewrite(
    folder: Path, learned: Mapping[str, Any], arrays: bytes | None = None
) -> None:
    """The folder as a stranger would write it: all of its seals fit."""
    stamp = read_stamp(folder)
    content = (folder / ARRAYS).read_bytes() if arrays is None else arrays
    facts = {"mitigator": "last-layer", "class": "Learned", "model": "f", "spec": "toy"}
    write_mitigated(
        folder, {**facts, "learned": {**stamp.learned, **learned}}, {ARRAYS: content}
    )


def test_it_comes_back_as_it_was(folder: Path) -> None:
    loaded = Learned.load(folder)
    assert mitigator_of(folder) == "last-layer"
    assert (loaded.labels, loaded.scale, loaded.everywhere) == (
        ("top", "bottom"),
        0.1 + 0.2,
        True,
    )
    assert (loaded.weights == LEARNED.weights).all()
    assert isinstance(loaded.router, CueRouter)
    assert (loaded.router.weights == np.eye(3)).all()


def edit_stamp(folder: Path) -> None:
    text = (folder / STAMP).read_text()
    (folder / STAMP).write_text(text.replace('"top"', '"tip"'))


def edit_arrays(folder: Path) -> None:
    arrays = arrays_of(folder)
    (folder / ARRAYS).write_bytes(packed(**{**arrays, "bias": 2 * arrays["bias"]}))


def link_out(file: Path) -> None:
    moved = file.rename(file.parent.with_name(f"outside-{file.name}"))
    file.symlink_to(moved)


def drop_checksum(folder: Path) -> None:
    stamp = json.loads((folder / STAMP).read_text())
    del stamp["checksum"]
    (folder / STAMP).write_text(json.dumps(stamp))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (edit_stamp, "got other content. Run `cuescope mitigate` again"),
        (edit_arrays, f"{ARRAYS} is not what was written"),
        (
            lambda f: (f / "table.csv").write_text(""),
            "table.csv is not what was written",
        ),
        (lambda f: (f / "table.csv").unlink(), "no table.csv that can be read"),
        (lambda f: (f / ARRAYS).unlink(), f"no {ARRAYS} that can be read"),
        (lambda f: link_out(f / ARRAYS), f"{ARRAYS} leads out of its folder"),
        (lambda f: link_out(f / STAMP), f"{STAMP} leads out of its folder"),
        (lambda f: (f / STAMP).unlink(), f"no {STAMP}"),
        (drop_checksum, "got no checksum in it"),
    ],
)
def test_a_changed_folder_is_one_line(
    folder: Path, change: Callable[[Path], None], line: str
) -> None:
    change(folder)
    with pytest.raises(UserError) as caught:
        Learned.load(folder)
    assert line in str(caught.value)
    assert "cuescope mitigate" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("learned", "line"),
    [
        ({"labels": "top"}, "'labels': Input should be a valid array"),
        ({"labels": [1, 2]}, "'labels': Input should be a valid string"),
        ({"scale": "1"}, "'scale': Input should be a valid number"),
        ({"scale": float("nan")}, "'scale': Input should be finite numbers"),
        ({"everywhere": 1}, "'everywhere': Input should be a valid boolean"),
        ({"router.bias": None}, "'router.bias': Input should be an array of numbers"),
        ({"bias": [1.0, 2.0]}, "'bias': Input should be an array of numbers"),
        ({"labels": ["top"]}, "'labels': 1, and arrays of others"),
        ({"labels": ["top", "bottom", "left"]}, "'labels': 3, and arrays of others"),
    ],
)
def test_a_value_of_another_type_is_one_line(
    folder: Path, learned: dict[str, Any], line: str
) -> None:
    arrays = {
        name: each for name, each in arrays_of(folder).items() if name not in learned
    }
    rewrite(folder, learned, packed(**arrays))
    with pytest.raises(UserError) as caught:
        Learned.load(folder)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "line"),
    [
        ({"bias": np.ones(3)}, "'bias': Input should be an instance of"),
        ({"weights": np.ones(3)}, "'weights': Input should be an instance of"),
        (
            {"weights": np.ones((2, 3), int)},
            "'weights': Input should be an instance of",
        ),
        ({"weights": np.array([["a"]])}, "'weights': Input should be an instance of"),
        ({"labels": np.ones(2)}, "'labels': Input should be a valid tuple"),
        ({"bias": np.full(2, np.nan)}, "'bias': Input should be finite numbers"),
        (
            {"router.weights": np.full((3, 3), np.inf)},
            "'router.weights': Input should be finite numbers",
        ),
        (
            {"router.weights": np.ones(3)},
            "'router.weights': Input should be an instance of",
        ),
    ],
)
def test_an_array_of_another_shape_is_one_line(
    folder: Path, arrays: dict[str, np.ndarray], line: str
) -> None:
    rewrite(folder, {}, packed(**{**arrays_of(folder), **arrays}))
    with pytest.raises(UserError) as caught:
        Learned.load(folder)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_missing_and_what_is_of_another_class_is_one_line(folder: Path) -> None:
    rewrite(folder, {}, packed(bias=np.ones(2)))
    with pytest.raises(UserError, match="nothing for 'weights'"):
        Learned.load(folder)
    stamp = {"mitigator": "x", "class": "Other", "learned": {}}
    write_mitigated(folder, stamp, {ARRAYS: packed()})
    with pytest.raises(UserError, match="a Other, not Learned"):
        Learned.load(folder)
    write_mitigated(folder, {**stamp, "mitigator": 3}, {})
    with pytest.raises(UserError, match="mitigator: Input should be a valid string"):
        mitigator_of(folder)
    write_mitigated(folder, stamp, {})
    content = json.loads((folder / STAMP).read_text())
    assert content["files"] == {}


def lying_header() -> bytes:
    """An array of ten numbers, which says that it has a billion billion."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        content, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)}
    )
    return content.getvalue() + bytes(80)


def pickled() -> bytes:
    content = io.BytesIO()
    np.save(content, np.array([{}], object), allow_pickle=True)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "packing", "line"),
    [
        (lying_header(), zipfile.ZIP_STORED, "another size than its header tells"),
        (pickled(), zipfile.ZIP_STORED, "another size than its header tells"),
        (b"no array", zipfile.ZIP_DEFLATED, "magic string is not correct"),
        (bytes(2_000_001), zipfile.ZIP_DEFLATED, "unfolds to 0.002 GB"),
        (bytes(100), zipfile.ZIP_LZMA, "packed in another way than numpy does"),
    ],
)
def test_an_archive_that_lies_is_one_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    packing: int,
    line: str,
) -> None:
    monkeypatch.setenv("CUESCOPE_MAX_ARCHIVE_GB", "0.002")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", packing) as file:
        file.writestr("weights.npy", content)
    rewrite(folder, {}, archive.getvalue())
    with pytest.raises(UserError) as caught:
        Learned.load(folder)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_outside_of_the_folder_is_not_read(folder: Path) -> None:
    stamp = {"mitigator": "x", "class": "Learned", "learned": {}}
    (folder.parent / "secret").write_bytes(b"")
    inner = folder / "inner"
    write_mitigated(inner, stamp, {"../secret": b""})
    with pytest.raises(UserError, match="a file outside of it"):
        Learned.load(inner)


def test_it_is_written_again_in_the_place_of_another(folder: Path) -> None:
    LEARNED.save(folder, mitigator="coop", model={"model": "g", "spec": "toy"})
    assert mitigator_of(folder) == "coop"
    assert Learned.load(folder).labels == LEARNED.labels


def test_an_archive_with_files_without_an_end_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zipfile keeps a thousand bytes of each name in its list."""
    monkeypatch.setattr("cuescope_sdk.models._archives.LARGEST_LIST", 200)
    rewrite(folder, {}, packed(**{str(n): np.ones(1) for n in range(9)}))
    with pytest.raises(UserError, match=r"a list of files of .* bytes"):
        Learned.load(folder)
