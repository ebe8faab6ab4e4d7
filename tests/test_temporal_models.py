"""TRoVe through the command line on the paper's temporal models, tiny, and its data sets."""

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import torch
from biovil_published import write_folder
from PIL import Image
from safetensors.torch import save_file
from video_clip_published import FRAMES, viclip_state, videoclip_xl_state

import cuescope_biovil.loading
from cuescope.cli import main
from cuescope_ms_cxr_t import TABLE
from cuescope_sdk import Report, StoredRun

ACTIONS = ("climbing tree", "swimming")
CLIPS = 12  # six a label, the least that TRoVe takes
FINDINGS = ("consolidation", "edema", "pleural_effusion", "pneumonia", "pneumothorax")


def write_clip(path: Path, rng: np.random.Generator, base: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for _ in range(8):
            pixels = rng.integers(0, 60, (64, 64, 3)) + base
            frame = av.VideoFrame.from_ndarray(pixels.astype(np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


@pytest.fixture(scope="module")
def kinetics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CVDF's names, dark and bright clips of either action."""
    root, rng = tmp_path_factory.mktemp("k400"), np.random.default_rng(0)
    rows = ["label,youtube_id,time_start,time_end,split,is_cc"]
    for number in range(2 * CLIPS):
        rows.append(
            f"{ACTIONS[number % 2]},upload{number:05d},{number},{number + 10},val,0"
        )
        name = f"upload{number:05d}_{number:06d}_{number + 10:06d}.mp4"
        write_clip(root / "val" / name, rng, 180 * (number // 2 % 2))
    (root / "val.csv").write_text("\n".join(rows))
    return root


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PhysioNet's table and images, of twelve patients."""
    root, rng = tmp_path_factory.mktemp("ms-cxr-t"), np.random.default_rng(1)
    columns = [f"{finding}_progression" for finding in FINDINGS]
    rows = [",".join(["subject_id", "dicom_id", "previous_dicom_id", *columns])]
    for patient in range(CLIPS):
        names = [f"p10/p{patient}/s{study}/image-{study}" for study in (0, 1)]
        answer = ("improving", "worsening")[patient % 2]
        rows.append(f"{patient},{names[1]},{names[0]},,,,{answer},")
        for name in names:
            file = root / "files" / f"{name}.jpg"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 256, (80, 90), dtype=np.uint8)).save(file)
    (root / TABLE).write_text("\n".join(rows))
    return root


def audit(out: Path, *words: str) -> Report:
    """`cuescope audit trove`, and its report."""
    common = ("--out", str(out), "-O", "null_shuffles=0")
    assert exit_code(*words, *common) == 0
    return StoredRun(out).report


def exit_code(*words: str) -> object:
    """What `cuescope audit trove` ends with."""
    with pytest.raises(SystemExit) as ended:
        main(["audit", "trove", *words, "--device", "cpu", "--no-cache"])
    return ended.value.code


@pytest.mark.parametrize(
    "family", ["viclip", pytest.param("videoclip-xl", marks=pytest.mark.long)]
)
def test_trove_on_video_models_and_kinetics(
    family: str, kinetics: Path, tmp_path: Path
) -> None:
    """Both parts of the validation set, the paper's 28 prompts, a namer's guesses."""
    (tmp_path / "words.txt").write_text("tree\nwater\nsnow\nbaby\n")
    if family == "viclip":
        model = tmp_path / "ViCLIP-B_InternVid-FLT-10M.pth"
        torch.save({"model": viclip_state()}, model)
    else:
        model = tmp_path / "VideoCLIP-XL"
        model.mkdir()
        torch.save(videoclip_xl_state(), model / "VideoCLIP-XL.bin")
    report = audit(
        tmp_path / "run",
        *("--model", f"video-clip:{model}", "-O", "model.templates=action28"),
        *(
            "--data",
            f"kinetics:{kinetics}",
            "-O",
            f"data.frames={FRAMES}",
            "-O",
            "data.split=val-dev",
        ),
        *("--tool", f"namer=vocabulary:{tmp_path / 'words.txt'}", "-O", "paper=true"),
    )
    assert report.cost.model_calls > 0
    assert report.provenance.labels == ACTIONS
    assert (
        report.provenance.data.facts["clips"]
        == f"{CLIPS} about {CLIPS} videos, split val-dev"
    )
    assert (
        report.provenance.model.facts["text"] == "text tower, 28 templates (action28)"
    )
    names = [feature.name for feature in report.features if feature.name is not None]
    assert names
    assert all(
        " looks like: " in name and name.endswith("elsewhere)") for name in names
    )


def test_trove_on_biovil_t_and_ms_cxr_t(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # convolutional: any size goes
    monkeypatch.setattr(cuescope_biovil.loading, "RESIZE", 72)
    monkeypatch.setattr(cuescope_biovil.loading, "CROP", 64)
    folder = write_folder(tmp_path / "BiomedVLP-BioViL-T")
    report = audit(
        tmp_path / "run",
        *(
            "--model",
            f"biovil-t:{folder}",
            "-O",
            "model.templates=pneumonia-progression",
        ),
        *("--data", f"ms-cxr-t:{pairs}", "-O", "step=1"),
    )
    assert (
        report.provenance.model.facts["sequence"]
        == "the earlier image and the current one together"
    )
    assert report.provenance.data.facts["groups"].endswith("by patient")
    assert {score.label for score in report.scores} <= {"improving", "worsening"}


VIDEO_FAULTS: dict[str, Any] = {
    "missing": lambda s: s.pop("text_encoder.ln_final.bias"),
    "fit nowhere": lambda s: s.update({"fusion.weight": torch.zeros(2)}),
    "misshapen": lambda s: s.update({"vision_encoder.ln_pre.bias": torch.zeros(5)}),
}


@pytest.mark.parametrize("fault", VIDEO_FAULTS)
def test_a_spoilt_checkpoint_is_one_line(
    fault: str, kinetics: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = viclip_state()
    VIDEO_FAULTS[fault](state)
    save_file(state, tmp_path / "spoilt.safetensors")
    model = ("--model", f"video-clip:{tmp_path / 'spoilt.safetensors'}")
    data = ("--data", f"kinetics:{kinetics}", "-O", f"data.frames={FRAMES}")
    assert exit_code(*model, *data) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "spoilt.safetensors does not fit" in said
    assert f"got 1 {fault}" in said.replace("that ", "")
    assert "Traceback" not in said


def test_a_wrong_number_of_frames_is_one_line(
    kinetics: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save({"model": viclip_state()}, tmp_path / "viclip.pth")
    model = ("--model", f"video-clip:{tmp_path / 'viclip.pth'}")
    assert exit_code(*model, "--data", f"kinetics:{kinetics}") == 2
    said = capsys.readouterr().err
    assert f"expected {FRAMES} frames a sample, got 8" in " ".join(said.split())
