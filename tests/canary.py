"""A model folder whose every file tries to run code: what ran leaves a marker."""

import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

CODE = "canary_code"
AUTO = (
    *(
        "AutoConfig",
        "AutoModel",
        "AutoTokenizer",
        "AutoProcessor",
        "AutoImageProcessor",
    ),
    *(
        "AutoVideoProcessor",
        "AutoFeatureExtractor",
        "AutoModelForCausalLM",
        "AutoBackbone",
    ),
    *(
        "AutoModelForImageTextToText",
        "AutoModelForMultimodalLM",
        "AutoModelForObjectDetection",
    ),
)
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "vocab_size": 8,
    "image_size": 16,
    "patch_size": 8,
}
TOWERS = {"text_config": SMALL, "vision_config": SMALL, "projection_dim": 16}
CONFIGS: dict[str, dict[str, Any]] = {
    "canary": {},
    "clip": TOWERS,
    "clip_vision_model": {**SMALL, "projection_dim": 16},
    "xclip": TOWERS,
    "owlv2": TOWERS,
    "gpt2": {"n_layer": 1, "n_head": 2, "n_embd": 16, "vocab_size": 8},
    "bert": SMALL,
    "deberta-v2": SMALL,
    "llava": {
        "text_config": {
            "model_type": "canary-text",
            "auto_map": {"AutoModel": f"{CODE}.Canary"},
        },
        "vision_config": {"model_type": "clip_vision_model", **SMALL},
    },
    "detr": {"backbone": "local-dir:.", "backbone_kwargs": {"trust_remote_code": True}},
    "sam": {},
    "grounding-dino": {},
}
OPEN_CLIP = {
    "embed_dim": 16,
    "vision_cfg": {
        "image_size": 16,
        "layers": 1,
        "width": 16,
        "head_width": 8,
        "patch_size": 8,
    },
    "text_cfg": {
        "hf_tokenizer_name": "canary",
        "tokenizer_kwargs": {"trust_remote_code": True},
        **{
            "context_length": 8,
            "vocab_size": 49408,
            "width": 16,
            "heads": 2,
            "layers": 1,
        },
    },
}


class Pickled:
    """Runs code wherever it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> Any:
        return Path.write_text, (self._marker, "a pickle")


def write_canary(folder: Path, marker: Path, kind: str, weights: str) -> Path:
    """A folder as of `kind`, its weights a "pickle" or "tensors"."""
    folder.mkdir(parents=True)
    code = (
        f"import pathlib\n\npathlib.Path({str(marker)!r}).write_text(__file__)\n\n\n"
        "class Canary:\n    pass\n"
    )
    for name in (CODE, "modeling_canary", "__init__", "conftest", "sitecustomize"):
        (folder / f"{name}.py").write_text(code)
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(code)
    auto = {"auto_map": dict.fromkeys(AUTO, f"{CODE}.Canary")}
    auto["auto_map"]["AutoTokenizer"] = [f"{CODE}.Canary", f"{CODE}.Canary"]  # type: ignore[assignment]
    kernel = {} if weights == "tensors" else {"attn_implementation": "canary/kernel"}
    named = {"image_processor_type": "Canary", "processor_class": "Canary", **auto}
    files: dict[str, Any] = {
        "config.json": {**CONFIGS[kind], **auto, **kernel, "model_type": kind},
        # an Auto class in the place of a tokenizer asks on its own account
        "tokenizer_config.json": {
            "tokenizer_class": "Canary" if weights == "pickle" else "AutoProcessor",
            **auto,
        },
        "preprocessor_config.json": named,
        "processor_config.json": named,
        "video_preprocessor_config.json": named,
        "generation_config.json": {
            "custom_generate": "canary",
            "trust_remote_code": True,
        },
        "tokenizer.json": {
            "version": "1.0",
            "model": {"type": "WordLevel", "vocab": {"a": 0}},
        },
        "open_clip_config.json": {"model_cfg": OPEN_CLIP, "preprocess_cfg": {}},
        "modules.json": [{"idx": 0, "name": "0", "path": "", "type": f"{CODE}.Canary"}],
        "sentence_bert_config.json": {
            "model_args": {"weights_only": False, "use_safetensors": False}
        },
        "config_sentence_transformers.json": {"prompts": {}},
    }
    if weights == "pickle":
        files["adapter_config.json"] = {"base_model_name_or_path": "canary/canary"}
    # the library's own module, and arguments that open a pickle
    if weights == "tensors":
        own = "sentence_transformers.models.Transformer"
        files["modules.json"] = [{"idx": 0, "name": "0", "path": "", "type": own}]
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n")
    (folder / "chat_template.jinja").write_text(
        "{{ cycler.__init__.__globals__.os.system('touch ' ~ "
        + repr(str(marker))
        + ") }}"
    )
    _write_weights(folder, marker, weights)
    return folder


def _write_weights(folder: Path, marker: Path, weights: str) -> None:
    tensors = {
        name: torch.zeros(1)
        for name in ("logit_scale", "visual.proj", "text_projection", "bias")
    }
    if weights == "tensors":
        for name in ("model.safetensors", "open_clip_model.safetensors"):
            save_file(tensors, folder / name)
    for name in (
        "pytorch_model.bin",
        "open_clip_pytorch_model.bin",
        "canary.pth",
        "canary.ckpt",
    ):
        torch.save({"state_dict": {**tensors, "evil": Pickled(marker)}}, folder / name)
    (folder / "canary.pt").write_bytes(pickle.dumps(Pickled(marker)))
    objects = np.array([Pickled(marker)], dtype=object)
    np.save(folder / "canary.npy", objects, allow_pickle=True)
    np.savez(folder / "canary.npz", names=objects, embeddings=objects)  # type: ignore[arg-type]
    (folder / "canary.yaml").write_text(
        f"!!python/object/apply:builtins.open [{str(marker)!r}, 'w']\n"
    )


class Answers(io.StringIO):
    """Standard input of somebody who says yes to everything; `reads` counts the questions."""

    reads = 0

    def readline(self, *size: Any) -> str:
        self.reads += 1
        return "yes\n"

    def read(self, *size: Any) -> str:
        self.reads += 1
        return "yes\n"
