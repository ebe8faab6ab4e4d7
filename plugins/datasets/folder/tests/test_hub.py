"""`hf:REPO[:SPLIT]` of local repositories: Parquet files and class folders as the hub has them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_folder.hub import HuggingFace, HuggingFaceOptions
from cuescope_sdk import Context, UserError
from cuescope_testing import DatasetContract

from .test_elsewhere import png, shown

datasets = pytest.importorskip("datasets", reason="needs pip install datasets")
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning"
)


def write_repository(folder: Path, **more: Any) -> Path:
    """Parquet files of two splits, with typed columns."""
    features = {
        "img": datasets.Image(),
        "fine": datasets.ClassLabel(names=["cat", "dog", "fox"]),
        "patient": datasets.Value("string"),
    }
    columns: dict[str, list[Any]] = {
        "img": [{"bytes": png(10 * n), "path": f"{n}.png"} for n in range(6)],
        "fine": [0, 1] * 3,
        "patient": list("aabbcc"),
    }
    for name, (kind, values) in more.items():
        features[name], columns[name] = kind, values
    table = datasets.Dataset.from_dict(columns, features=datasets.Features(features))
    (folder / "data").mkdir(parents=True)
    table.select(range(4)).to_parquet(folder / "data" / "train-00000-of-00001.parquet")
    table.select(range(4, 6)).to_parquet(
        folder / "data" / "validation-00000-of-00001.parquet"
    )
    return folder


def opened(source: object, context: Context, **options: Any) -> HuggingFace:
    return HuggingFace(HuggingFaceOptions(source=str(source), **options), context)


class TestContract(DatasetContract):
    plugin = HuggingFace
    split_names = ("train", "val")

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _repository(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = write_repository(tmp_path_factory.mktemp("hub") / "repo")
        cls.options = {"source": f"{root}:train"}
        cls.other_options = {"source": f"{root}:train", "rows": 3}


def test_rows_are_samples(tmp_path: Path, context: Context) -> None:
    root = write_repository(tmp_path / "repo")
    data = opened(f"{root}:train", context, rows=3, group="patient")
    assert shown(data) == [
        (f"row-{n}/{n}.png", ("cat", "dog")[n % 2], 10 * n) for n in range(3)
    ]
    assert data.labels == ("cat", "dog", "fox")
    assert [sample.group for sample in data] == ["a", "a", "b"]
    assert "image 'img' (guessed; -O data.image=COLUMN" in data.facts["columns"]
    assert "label 'fine' (guessed" in data.facts["columns"]
    assert opened(root, context).facts["split"] == "validation (guessed)"
    assert len(data.split("val")) == 2
    named = opened(f"{root}:train", context, image="img", label="patient")
    assert "guessed" not in named.facts["columns"]
    assert named.labels == ("a", "b")


def test_questions_with_choices(tmp_path: Path, context: Context) -> None:
    """An answer may be a number among the row's own choices."""
    texts, numbers = datasets.Value("string"), datasets.Value("int64")
    features = {
        "image": datasets.Image(),
        "question": texts,
        "choices": datasets.List(texts),
        "answer": numbers,
    }
    rows = {
        "image": [{"bytes": png(n), "path": None} for n in range(2)],
        "question": ["What?", "Who?"],
        "choices": [["a cup", "a bowl"], ["he", "she", "they"]],
        "answer": [1, 2],
    }
    table = datasets.Dataset.from_dict(rows, features=datasets.Features(features))
    (tmp_path / "qa").mkdir()
    table.to_parquet(tmp_path / "qa" / "test.parquet")
    data = opened(tmp_path / "qa", context)
    assert [(s.question, s.label, len(s.choices)) for s in data] == [
        ("What?", "a bowl", 2),
        ("Who?", "they", 3),
    ]


def test_class_folders_of_a_repository(tmp_path: Path, context: Context) -> None:
    for level, label in enumerate(("cat", "dog")):
        (tmp_path / "photos" / "train" / label).mkdir(parents=True)
        image = Image.fromarray(np.full((8, 8, 3), 50 * level, np.uint8))
        image.save(tmp_path / "photos" / "train" / label / "1.png")
    data = opened(tmp_path / "photos", context)
    assert [(s.label, int(np.asarray(s.frames[0].load()).max())) for s in data] == [
        ("cat", 0),
        ("dog", 50),
    ]


def test_what_cannot_be_is_told_in_one_line(
    tmp_path: Path, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_repository(tmp_path / "repo")
    secret = {"fine": (datasets.ClassLabel(names=["cat", "dog"]), [-1] * 6)}
    hidden = write_repository(tmp_path / "hidden", **secret)

    def refusal(source: object, **options: Any) -> str:
        with pytest.raises(UserError) as caught:
            opened(source, context, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "no split 'tain'" in (said := refusal(f"{root}:tain"))
    assert "Did you mean 'train'?" in said
    assert "no column 'fne'" in refusal(root, label="fne")
    assert "holds no images or videos: expected one of img" in refusal(
        root, image="fine"
    )
    assert "-1 is no class" in refusal(hidden)
    assert "no configuration 'small': expected one of default" in refusal(
        root, config="small"
    )
    assert "no folder ./nowhere" in refusal("./nowhere")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "cannot be reached" in refusal("someone/photos")
