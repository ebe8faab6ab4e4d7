"""A folder like microsoft/BiomedVLP-BioViL-T, with small networks and random weights."""

import json
from pathlib import Path

import torch
from torch import Tensor
from torchvision.models.resnet import BasicBlock, ResNet

from cuescope_sdk.torch import quiet

WIDTH, LAYERS, DIM, HIDDEN = 32, 2, 16, 32
State = dict[str, Tensor]
IMAGE_FILE = "biovil_t_image_model_proj_size_128.pt"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ("pneumonia", "is", "better", "worse", "bigger", "smaller", "new", "resolved")


def _draw(*shape: int, scale: float = 0.3) -> Tensor:
    return torch.randn(shape) * scale


def _norm(name: str, width: int) -> State:
    return {f"{name}.weight": 1 + _draw(width), f"{name}.bias": _draw(width)}


def image_state(seed: int = 0) -> State:
    """What the authors' `torch.load` of the image model gives: a ResNet and the rest."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        backbone = ResNet(BasicBlock, [1, 1, 1, 1]).state_dict()
        state = {f"encoder.encoder.{name}": tensor for name, tensor in backbone.items()}
        state["encoder.backbone_to_vit.weight"] = _draw(WIDTH, 512, 1, 1, scale=0.05)
        state["encoder.missing_previous_emb"] = _draw(1, WIDTH, 1, 1)
        pooler = "encoder.vit_pooler"
        state[f"{pooler}.type_embed"] = _draw(2, 1, WIDTH, scale=1.0)
        state |= _norm(f"{pooler}.norm_post", WIDTH)
        for layer in range(LAYERS):
            block = f"{pooler}.blocks.{layer}"
            state |= _norm(f"{block}.norm1", WIDTH) | _norm(f"{block}.norm2", WIDTH)
            for part in ("q", "k", "v"):
                state[f"{block}.attn.proj_{part}.weight"] = _draw(WIDTH, WIDTH)
            for part in ("attn.proj", "mlp.fc1", "mlp.fc2"):
                state[f"{block}.{part}.weight"] = _draw(WIDTH, WIDTH)
                state[f"{block}.{part}.bias"] = _draw(WIDTH)
        state["projector.model.0.weight"] = _draw(DIM, 2 * WIDTH, 1, 1)
        state |= _norm("projector.model.1", DIM)
        state["projector.model.1.running_mean"] = _draw(DIM)
        state["projector.model.1.running_var"] = 1 + _draw(DIM).abs()
        state["projector.model.1.num_batches_tracked"] = torch.tensor(7)
        state["projector.model.3.weight"] = _draw(DIM, DIM, 1, 1)
        state["projector.model.3.bias"] = _draw(DIM)
        return state


def write_folder(folder: Path, seed: int = 0) -> Path:
    """The repository's files."""
    import transformers

    folder.mkdir(parents=True)
    torch.save(image_state(seed), folder / IMAGE_FILE)
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS)
    words = (*words, *(f"##{letter}" for letter in LETTERS))  # any word is some pieces
    (folder / "vocab.txt").write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=16,
    )
    own = {
        "model_type": "cxr-bert",
        "architectures": ["CXRBertModel"],
        "auto_map": {"AutoModel": "modeling_cxrbert.CXRBertModel"},
        "projection_size": DIM,
    }
    (folder / "config.json").write_text(json.dumps({**config.to_diff_dict(), **own}))
    tokenizer = {"do_lower_case": True, "tokenizer_class": "CXRBertTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(seed)
        state = transformers.BertForMaskedLM(config).state_dict()
        head = "cls_projection_head"
        state |= _norm(f"{head}.LayerNorm", DIM)
        for part, width in (("dense_to_hidden", HIDDEN), ("dense_to_output", DIM)):
            state[f"{head}.{part}.weight"] = _draw(DIM, width)
            state[f"{head}.{part}.bias"] = _draw(DIM)
        # older releases save it
        state["bert.embeddings.position_ids"] = torch.arange(16)[None]
    torch.save(state, folder / "pytorch_model.bin")
    return folder
