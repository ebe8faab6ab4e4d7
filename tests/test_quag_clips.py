"""CLAVI for a model of features: clips are written, features computed of them, JustAsk audited."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from media_files import MediaFile

from cuescope.cli import main
from cuescope_core.runs import load_report

PLUGINS = Path(__file__).parents[1] / "plugins"
sys.path += [
    str(PLUGINS / "models/videoqa/tests"),
    str(PLUGINS / "datasets/clavi/tests"),
]
import videoqa_published as published  # noqa: E402
from test_charades import write_charades  # noqa: E402
from videoqa_samples import WORDS  # noqa: E402

VIDEOS = {f"V{n}AAA": "c000 0.20 0.50;c063 0.70 1.10" for n in range(6)}
CURATION = {"shortest": "0.2", "extension": "0"}


def save_words(folder: Path) -> Path:
    """A tokenizer of whole words; those of the questions that it lacks are unknown."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    numbers = {word: number for number, word in enumerate(WORDS)}
    rules = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    rules.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = [(word, numbers[word]) for word in ("[CLS]", "[SEP]")]
    rules.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=special
    )
    named = {
        "pad": "[PAD]",
        "unk": "[UNK]",
        "cls": "[CLS]",
        "sep": "[SEP]",
        "mask": "[MASK]",
    }
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        **{f"{name}_token": word for name, word in named.items()},
    ).save_pretrained(folder)
    return folder


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


def write_msrvtt(root: Path) -> Path:
    """One open question in each of two splits."""
    for video, split in enumerate(("train", "test")):
        MediaFile.video(root / "videos" / f"video{video}.mp4", 4)
        asked = {"question": "who sings?", "answer": "man", "category_id": 0}
        rows = [{**asked, "id": video, "video_id": video}]
        (root / f"{split}_qa.json").write_text(json.dumps(rows))
    return root


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    """The rows of each table of a bench's --json, by their first cell."""
    tables = json.loads(capsys.readouterr().out)["tables"]
    return {
        table["title"]: {row[table["columns"][0]]: row for row in table["rows"]}
        for table in tables
    }


@pytest.mark.long
def test_just_ask_is_audited_on_clavi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    charades = write_charades(tmp_path / "charades", VIDEOS)
    clips, features = tmp_path / "clips", tmp_path / "s3d"
    own = [word for key, value in CURATION.items() for word in (f"--{key}", value)]
    own += ["--sizes", f"msrvtt-qa:{write_msrvtt(tmp_path / 'msrvtt')}"]
    own += ["--size-splits", "train,test", "--json"]
    assert (
        run("dev", "bench", "clavi", "--source", charades, "--write", clips, *own) == 0
    )
    sizes = printed(capsys)["Sizes of data sets"]
    thousands = {name: row["thousand questions"] for name, row in sizes.items()}
    # the same six videos are in both splits; "val" is drawn from the training ones
    assert thousands["CLAVI"] == pytest.approx(
        0.038 * 2 * len(VIDEOS), abs=0.038 * len(VIDEOS)
    )
    assert (thousands["MSRVTT-QA"], thousands["iVQA"]) == (0.002, None)
    files = sorted(clips.glob("*.mp4"))
    assert len(files) == 2 * len(VIDEOS)
    features.mkdir()
    rng = np.random.default_rng(0)
    for file in files:  # as the authors' script would, of each file
        np.save(features / f"{file.stem}.npy", rng.normal(size=(2, published.S3D)))
    for seed in (0, 1):
        torch.save(
            published.drawn(published.just_ask(), seed),
            tmp_path / f"just-ask-{seed}.pth",
        )
    model = {
        "features": features,
        "text_encoder": save_words(tmp_path / "words"),
        "head_dim": published.HEAD,
        "question_tokens": published.QUESTION,
    }
    words = [
        *("audit", "quag", "--model", f"just-ask:{tmp_path / 'just-ask-0.pth'}"),
        *(
            word
            for key, value in model.items()
            for word in ("-O", f"model.{key}={value}")
        ),
        *("--data", f"clavi:{charades}", "-O", f"data.clips={clips}"),
        *(
            word
            for key, value in CURATION.items()
            for word in ("-O", f"data.{key}={value}")
        ),
        *(
            "-O",
            "captures=0",
            "-O",
            "pairs=3",
            "-O",
            "attention_map=1:0",
            "-O",
            "beside=JustAsk",
        ),
        *("--device", "cpu", "--out", tmp_path / "run"),
    ]
    assert run(*words) == 0
    report = load_report(tmp_path / "run")
    tables = {table.title.split(",")[0]: table for table in report.tables}
    assert (
        tables["Consistent accuracy on complements"].paper[0]["CAcc_V control (Q')"]
        == 98.0
    )
    cells = {
        row["condition"]: row for row in tables["Accuracy by video and question"].rows
    }
    assert cells["V' BA Q'"]["n"] == 2 * len(VIDEOS)
    distances = tables["Distance of complements' attention"]
    assert sum(int(row["n"] or 0) for row in distances.rows) > 0
    assert not distances.paper  # which is of FrozenBiLM
    drawn = {picture.title for picture in report.pictures}
    assert "Attention of layer 1, head 0" in drawn
    assert "Distance of complements' attention, video" in drawn
    # another training: both together, as table 15
    again = [str(word).replace("just-ask-0", "just-ask-1") for word in words]
    assert run(*again[:-1], tmp_path / "other") == 0
    capsys.readouterr()
    assert (
        run(
            "dev",
            "bench",
            "quag-runs",
            "--runs",
            f"{tmp_path / 'run'},{tmp_path / 'other'}",
            "--json",
        )
        == 0
    )
    of_runs = printed(capsys)["Accuracy by video and question, %"]["V' BA Q'"]
    other = {table.title: table for table in load_report(tmp_path / "other").tables}
    [row] = [
        row
        for row in other["Accuracy by video and question, %"].rows
        if row["condition"] == "V' BA Q'"
    ]
    both = [float(str(one["accuracy"]).split()[0]) for one in (cells["V' BA Q'"], row)]
    assert of_runs["accuracy"] == f"{np.mean(both):.1f} ± {np.std(both, ddof=1):.1f}"
    assert of_runs["n"] == 2 * len(VIDEOS)
    assert (
        run(
            "dev",
            "bench",
            "quag-runs",
            "--runs",
            f"{tmp_path / 'run'},{tmp_path / 'run'}",
        )
        == 2
    )
    assert "are of the same weights" in capsys.readouterr().err
    # without the clips the two orders of one file would have the same features: refused
    at = next(n for n, word in enumerate(words) if "data.clips=" in str(word))
    plain = [*words[: at - 1], *words[at + 1 :]]
    assert run(*plain[:-1], tmp_path / "other") == 2
