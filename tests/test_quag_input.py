"""What `cuescope audit quag` says to models, options and files that do not fit."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from media_files import MediaFile
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers

from cuescope.cli import main
from cuescope_core.runs import load_report
from cuescope_sdk import Report

TINY = {"train": 60, "val": 40, "test": 40}
SIZES = (
    "--data",
    "moving-shapes:none",
    *(w for k, v in TINY.items() for w in ("-O", f"data.{k}={v}")),
)
SHAPES = (*SIZES, "-O", "data.questions=both")
TOY = ("--model", "toy-fusion", "-O", "model.epochs=1")
OTHER_TOY = (
    *TOY,
    "-O",
    "model.data=moving-shapes:none",
    "-O",
    f"model.data_options={json.dumps({'questions': 'both', **TINY})}",
)
BRIEF = (
    "-O",
    "captures=0",
    "-O",
    "pairs=0",
    "-O",
    "quag_attention=[]",
)
WORDS = (
    "<unk>",
    "<pad>",
    "<s>",
    "</s>",
    "which",
    "way",
    "is",
    "it",
    "?",
    ":",
    "east",
    "west",
)
LAYERS = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
Refused = Callable[..., str]
Audited = Callable[..., Report]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the cache of trained toys, and for what is written once."""
    return tmp_path_factory.mktemp("quag-input")


@pytest.fixture
def ended(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str]]:
    """`ended("--model", ...)`: exit code and standard error of an audit into `tmp_path/run`."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(folder / "cache"))

    def run(*words: str | Path) -> tuple[int, str]:
        asked = ["audit", "quag", *map(str, words), *BRIEF, "--device", "cpu"]
        with pytest.raises(SystemExit) as caught:
            main([*asked, "--no-cache", "--out", str(tmp_path / "run")])
        assert isinstance(caught.value.code, int)
        return caught.value.code, capsys.readouterr().err

    return run


@pytest.fixture
def refused(ended: Callable[..., tuple[int, str]], tmp_path: Path) -> Refused:
    """The one line of an audit that cannot be."""

    def line(*words: str | Path) -> str:
        code, said = ended(*words)
        assert code == 2, said
        # a warning of little data; progress, on a slow machine
        *before, line = said.splitlines()
        assert all(
            re.match(r"cuescope: (warning: |\d+:\d\d )", each) for each in before
        ), said
        assert line.startswith("cuescope: ")
        assert not (tmp_path / "run" / "report.json").exists()
        return line

    return line


@pytest.fixture
def audited(ended: Callable[..., tuple[int, str]], tmp_path: Path) -> Audited:
    """The report of an audit that goes on."""

    def report(*words: str | Path) -> Report:
        code, said = ended(*words)
        assert code == 0, said
        return load_report(tmp_path / "run")

    return report


# ------------------------------------------------------------------------ models and options


@pytest.mark.parametrize("model", ["toy", "open-clip:ViT-B-16/no-such-weights"])
def test_a_model_without_fusion_is_refused_before_its_weights_load(
    refused: Refused, model: str
) -> None:
    line = refused("--model", model, *SHAPES)
    assert (
        f"quag cannot audit {model}: expected a model with edit 'average-attention'"
        in line
    )
    able = line.partition("Installed models that have it: ")[2]
    assert {"toy-fusion", "transformers-vlm", "frozen-bilm"} <= set(
        able.strip().split(", ")
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "layers=7-9",
            "expected layers from 0 to 1: the model has 2 fusion layers, got 7-9",
        ),
        ("layers=3-1", "expected all, a range as 0-3, or numbers as 4,5, got '3-1'"),
        ("layer=0", "Did you mean 'layers'"),
        (
            "attention_map=2:0",
            "expected a layer from 0 to 1 and a head from 0 to 3, got 2:0",
        ),
        (
            "attention_map=1",
            "expected a layer and a head, counted from 0, as 1:0, got '1'",
        ),
    ],
)
def test_options_outside_the_model_and_the_method(
    refused: Refused, option: str, message: str
) -> None:
    line = refused(*TOY, *SHAPES, "-O", option)
    assert "quag" in line
    assert message in line


def tokenizer_with(**named: str) -> Any:
    """Whole words; `named` tokens are special."""
    rules = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>")
    )
    rules.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="left",
        extra_special_tokens=named,
    )


@pytest.fixture(scope="module")
def llava(folder: Path) -> Path:
    """A tiny LLaVA with random weights, as `save_pretrained` writes it."""
    tokenizer = tokenizer_with(image_token="<image>")
    config = transformers.LlavaConfig(
        text_config={**LAYERS, "model_type": "llama", "vocab_size": len(tokenizer)},
        vision_config={
            **LAYERS,
            "model_type": "clip_vision_model",
            "image_size": 16,
            "patch_size": 8,
            "projection_dim": 16,
        },
        image_token_index=tokenizer.image_token_id,
    )
    square = {"height": 16, "width": 16}
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessor(size=square, crop_size=square),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.AutoModelForImageTextToText.from_config(config)
    model.save_pretrained(folder / "llava")
    processor.save_pretrained(folder / "llava")
    return folder / "llava"


def write_photos(folder: Path) -> Path:
    """Pictures with a question each."""
    folder.mkdir()
    rows = ["path,question,answer"]
    rng = np.random.default_rng(0)
    for index in range(6):
        pixels = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{index}.png")
        rows.append(f"{index}.png,which way is it ?,{('east', 'west')[index % 2]}")
    (folder / "manifest.csv").write_text("\n".join(rows))
    return folder


def test_a_stock_model_must_say_which_tokens_are_visual(
    refused: Refused, audited: Audited, llava: Path, tmp_path: Path
) -> None:
    data = ("--data", f"folder:{write_photos(tmp_path / 'photos')}")
    report = audited("--model", f"transformers-vlm:{llava}", *data)
    assert "6 questions" in report.notes["balanced accuracy"]
    (tmp_path / "run" / "report.json").unlink()
    silent = copytree(llava, tmp_path / "silent")
    config = json.loads((silent / "config.json").read_text())
    for name in [name for name in config if name.startswith("image_token")]:
        del config[name]  # the library then takes the default of another vocabulary
    (silent / "config.json").write_text(json.dumps(config))
    line = refused("--model", f"transformers-vlm:{silent}", *data)
    assert "silent does not say which of its tokens are visual" in line
    assert "image_token_id or video_token_id in config.json" in line


# ------------------------------------------------------------------------- questions and videos


def write_open_questions(root: Path) -> Path:
    """Open questions as MSRVTT-QA has them: 4 videos to train on, 2 to select by, 6 to test on."""
    number = 0
    for split, videos in {
        "train": range(4),
        "val": range(4, 6),
        "test": range(6, 12),
    }.items():
        rows = []
        for video in videos:
            MediaFile.video(root / "videos" / f"video{video}.mp4", 4)
            for question, answer in (
                ("what is a man doing?", "sing"),
                ("who sings?", "man"),
            ):
                rows.append(
                    {
                        "answer": answer,
                        "category_id": 0,
                        "id": number,
                        "question": question,
                        "video_id": video,
                    }
                )
                number += 1
        (root / f"{split}_qa.json").write_text(json.dumps(rows))
    return root


def write_choices(root: Path) -> Path:
    """Questions with five choices as NExT-QA has them."""
    header = "video,question,answer,qid,type,a0,a1,a2,a3,a4"
    for split, videos in {"train": range(4), "val": range(4, 10)}.items():
        rows = [f"{v},why did he go,{v % 5},0,CW,home,work,out,in,up" for v in videos]
        (root / f"{split}.csv").write_text("\n".join([header, *rows]))
        for video in videos:
            MediaFile.video(root / "videos" / f"{video}.mp4", 3)
    return root


@pytest.fixture
def msrvtt(folder: Path, tmp_path: Path) -> Path:
    """Open questions, to spoil."""
    if not (folder / "msrvtt").exists():
        write_open_questions(folder / "msrvtt")
    return copytree(folder / "msrvtt", tmp_path / "msrvtt")


@pytest.fixture
def next_qa(folder: Path, tmp_path: Path) -> Path:
    """Multiple choice, to spoil."""
    if not (folder / "next-qa").exists():
        (folder / "next-qa").mkdir()
        write_choices(folder / "next-qa")
    return copytree(folder / "next-qa", tmp_path / "next-qa")


@pytest.mark.parametrize("missing", [False, True])
def test_empty_and_missing_videos_are_left_out_and_said(
    audited: Audited, msrvtt: Path, missing: bool
) -> None:
    video, words = (
        msrvtt / "videos" / "video6.mp4",
        "1 video unreadable: no video stream (video6)",
    )
    if missing:
        video.unlink()
        words = "1 video missing (video6)"
    else:
        MediaFile.video(video, 0)
    report = audited(*TOY, "--data", f"msrvtt-qa:{msrvtt}")
    assert (
        report.notes["accuracy"].partition(" of ")[2].startswith("10 questions about")
    )
    said = report.provenance.data.facts["left out"]
    assert said.startswith("2 of 12 questions")
    assert words in said


def test_without_any_video_there_is_nothing_to_ask(
    refused: Refused, msrvtt: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    line = refused(
        *OTHER_TOY,
        "--data",
        f"msrvtt-qa:{msrvtt}",
        "-O",
        f"data.videos={tmp_path / 'empty'}",
    )
    assert "msrvtt-qa: 12 of 12 questions cannot be shown: expected at most 50%" in line
    assert "6 videos missing (video6, video7, video8, ...)" in line
    assert "-O data.videos=FOLDER" in line


def test_a_broken_line_of_an_annotation_is_named(
    refused: Refused, msrvtt: Path, next_qa: Path
) -> None:
    rows = (next_qa / "val.csv").read_text().splitlines()
    rows[3] = rows[3].replace(",1,0,CW", ",nine,0,CW")
    (next_qa / "val.csv").write_text("\n".join(rows))
    line = refused(*OTHER_TOY, "--data", f"next-qa:{next_qa}")
    assert "next-qa: val.csv line 4 'answer': expected a valid integer" in line
    assert "got 'nine'" in line
    (msrvtt / "test_qa.json").write_text('[\n{"answer": "sing", "id": }]')
    line = refused(*OTHER_TOY, "--data", f"msrvtt-qa:{msrvtt}")
    assert "msrvtt-qa: test_qa.json is no JSON" in line
    assert "line 2 column 26" in line


def test_open_answers_outside_the_vocabulary_are_wrong_and_said(
    audited: Audited, msrvtt: Path
) -> None:
    rows = json.loads((msrvtt / "test_qa.json").read_text())
    for row in rows:
        row["answer"] = "yodel"
    (msrvtt / "test_qa.json").write_text(json.dumps(rows))
    report = audited(*TOY, "--data", f"msrvtt-qa:{msrvtt}")
    assert report.notes["accuracy"].startswith("0.0% of 12 questions")
    assert (
        "2 answers; no other can be right"
        in report.provenance.model.facts["trained on"]
    )
    assert not report.findings


def test_choices_outside_the_vocabulary(
    refused: Refused, audited: Audited, next_qa: Path
) -> None:
    line = refused(*OTHER_TOY, "--data", f"next-qa:{next_qa}")
    assert (
        "has no choice that was trained on: expected any of east, north, south, west"
        in line
    )
    assert "got home, work, out, in, up" in line
    assert "-O model.data=SPEC" in line
    trained = (next_qa / "train.csv").read_text()
    (next_qa / "train.csv").write_text(
        trained.replace("home,work,out,in,up", "home,work,out,in,x")
    )
    # one choice of five is unknown
    report = audited(*TOY, "--data", f"next-qa:{next_qa}")
    assert "of 6 questions" in report.notes["accuracy"]


# --------------------------------------------------------------------- labels, questions, actions


def test_questions_without_labels_are_one_line(
    refused: Refused, tmp_path: Path
) -> None:
    rows = []
    for index in range(6):
        MediaFile.video(tmp_path / "clips" / f"{index}.mp4", 4)
        rows.append(
            {
                "path": f"{index}.mp4",
                "question": "Which way?",
                "actions": [["go", 0, 1]],
            }
        )
    (tmp_path / "clips" / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    line = refused(
        *OTHER_TOY, "--data", f"folder:{tmp_path / 'clips'}", "-O", "data.frames=2"
    )
    assert "quag: expected samples with a label, the right answer, got none" in line


def test_data_without_questions_is_one_line(refused: Refused) -> None:
    line = refused(*TOY, *SIZES)
    assert (
        "quag: there is nothing to ask: expected samples with a question, got none"
        in line
    )
    assert "-O data.questions=both" in line


@pytest.mark.parametrize("source", ["moving-shapes:none", "scenes"])
def test_clavi_needs_timed_actions(refused: Refused, source: str) -> None:
    one = (
        ("-O", "data.source_options={actions: 1}")
        if source == "moving-shapes:none"
        else ()
    )
    line = refused(*TOY, "--data", f"clavi:{source}", *one)
    assert f"clavi: no sample of {source} has timed actions" in line
    assert "(name, first frame, frame after the last)" in line
