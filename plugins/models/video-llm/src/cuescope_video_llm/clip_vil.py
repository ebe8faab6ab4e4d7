"""CLIP-ViL (Shen et al., 2022): words and the grid of a CLIP ResNet through one BERT, in VQA.

Modules have the names of the authors' checkpoints.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
import transformers
from jaxtyping import Float
from open_clip.modified_resnet import ModifiedResNet
from PIL import Image
from pydantic import RootModel
from torch import Tensor, nn
from transformers.models.bert import modeling_bert

from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.data import TextFile
from cuescope_sdk.models import require_hub
from cuescope_sdk.torch import Checkpoint, Source, quiet, to_array
from cuescope_video_llm.checkpoints import read_file
from cuescope_video_llm.network import normalise
from cuescope_video_llm.options import ClipViLOptions

BERT: Any = modeling_bert  # the library is untyped
LONGEST = 20  # tokens of a question, LXMERT's (Tan and Bansal, 2019)
# pixels that a picture is fitted into, default of `img_size` in the authors' code
SHORT = 384
LONG = 640  # default of `img_size` there too
EPSILON = 1e-12  # default of BertConfig
BODY = "lxrt_encoder.model.bert"
VISUAL = f"{BODY}.encoder.visual_model.visual"
# Places of boxes, CLIP's text tower and its pooling: of other ways to use the same code.
UNUSED = (
    rf"{BODY}\.encoder\.visn_fc\.box_|{VISUAL}\.attnpool\."
    rf"|{BODY}\.encoder\.visual_model\.(transformer|token_embedding|ln_final)\."
    rf"|{BODY}\.encoder\.visual_model\.(positional_embedding|text_projection|logit_scale)$"
)


class Answers(RootModel[list[str]]):
    """The authors' list."""


def grid_encoder(file: Checkpoint) -> Any:
    """CLIP's ResNet up to its grid: its pooling is no part of the checkpoint."""
    width = file.size(f"{VISUAL}.conv3.weight")
    blocks = [file.layers(f"{VISUAL}.layer{number}") for number in range(1, 5)]
    network: Any = ModifiedResNet(blocks, output_dim=1, heads=1, width=width)
    network.attnpool = nn.Identity()
    return network


class ClipViLNetwork(nn.Module):
    """Questions about pictures, answered by a class; a video by the mean over its frames."""

    def __init__(
        self,
        file: Checkpoint,
        options: ClipViLOptions,
        answers: Sequence[str],
    ) -> None:
        super().__init__()
        self.answers = tuple(answers)
        dim = file.size(f"{BODY}.embeddings.word_embeddings.weight", 1)
        library: Any = transformers.BertConfig
        config = library(
            vocab_size=file.size(f"{BODY}.embeddings.word_embeddings.weight"),
            max_position_embeddings=file.size(
                f"{BODY}.embeddings.position_embeddings.weight"
            ),
            type_vocab_size=file.size(
                f"{BODY}.embeddings.token_type_embeddings.weight"
            ),
            hidden_size=dim,
            # no tensor tells the width of a head
            num_attention_heads=file.heads(dim, options.head_dim),
            intermediate_size=file.size(
                f"{BODY}.encoder.layer.0.intermediate.dense.weight"
            ),
            attn_implementation="sdpa",
        )
        visual = grid_encoder(file)
        see = {
            "visn_fc": nn.Linear(
                file.size(f"{BODY}.encoder.visn_fc.visn_fc.weight", 1), dim
            ),
            "visn_layer_norm": nn.LayerNorm(dim, EPSILON),
        }
        count = file.layers(f"{BODY}.encoder.layer")
        encoder = {
            "visn_fc": nn.ModuleDict(see),
            "layer": nn.ModuleList(BERT.BertLayer(config) for _ in range(count)),
            "visual_model": nn.ModuleDict({"visual": visual}),
        }
        body = {
            "embeddings": BERT.BertEmbeddings(config),
            "encoder": nn.ModuleDict(encoder),
            "pooler": nn.ModuleDict({"dense": nn.Linear(dim, dim)}),
        }
        model = nn.ModuleDict({"bert": nn.ModuleDict(body)})
        self.lxrt_encoder = nn.ModuleDict({"model": model})
        inner = file.size("logit_fc.0.weight")
        self.logit_fc = nn.Sequential(
            nn.Linear(dim, inner),
            nn.GELU(),
            nn.LayerNorm(inner, EPSILON),
            nn.Linear(inner, file.size("logit_fc.3.weight")),
        )
        classes = self.logit_fc[3].out_features
        # a class is known by its place in the list alone: another number is another list
        if len(answers) != classes:
            raise UserError(
                f"{file.title}: the answers do not fit",
                expected=f"{classes}, as many as the checkpoint has classes",
                got=f"{len(answers)}",
                remedy="Give the authors' trainval_label2ans.json with -O model.answers=FILE.",
            )
        self.tokenizer: Any = None

    @classmethod
    def load(
        cls,
        owner: str,
        files: Mapping[str, Path],
        options: ClipViLOptions,
    ) -> Self:
        """The network with all its weights; raises UserError for whatever a person can mend."""
        file = read_file(owner, files["checkpoint"], UNUSED)
        # in the order of the classes
        answers = TextFile(files["answers"], owner).json_object(Answers)
        with quiet():
            network = cls(file, options, answers.root)
        file.load_into(network)
        network.tokenizer = read_tokenizer(owner, options.tokenizer)
        return network.eval().requires_grad_(False)

    @torch.inference_mode()
    def logits(self, sample: Sample) -> Float[np.ndarray, " answer"]:
        """Of every answer, the mean over the frames."""
        body: Any = self.lxrt_encoder["model"]["bert"]  # type: ignore[index]
        encoder = body["encoder"]
        tokens = self.tokenizer(
            sample.question or "",
            truncation=True,
            max_length=LONGEST,
            return_tensors="pt",
        )
        weight = next(self.parameters())
        words = body["embeddings"](input_ids=tokens.input_ids.to(weight.device))
        rows = []
        # one by one: upright and wide pictures have grids of other shapes
        for frame in sample.frames:
            grid = encoder["visual_model"]["visual"](pixels(frame).to(weight))
            places = encoder["visn_fc"]["visn_fc"](grid.flatten(2).transpose(1, 2))
            seen = encoder["visn_fc"]["visn_layer_norm"](places)
            # Nothing is padded: a question by itself is as long as it is.
            states = torch.cat([words, seen], dim=1)
            for layer in encoder["layer"]:
                output = layer(states)
                # versions of transformers differ: a tuple, or the states themselves
                states = output[0] if isinstance(output, tuple) else output
            pooled = body["pooler"]["dense"](states[:, 0])
            rows.append(self.logit_fc(pooled)[0])
        return to_array(torch.stack(rows).mean(0))


def pixels(frame: Frame) -> Float[Tensor, "1 channel row col"]:
    """A picture fitted into 384 x 640, or upright into 640 x 384, black around it."""
    image = frame.load()
    width, height = image.size
    box = (SHORT, LONG) if width <= height else (LONG, SHORT)
    scale = min(SHORT / min(image.size), LONG / max(image.size))
    # rounding must neither lose a side nor pass the box
    width, height = (
        min(max(round(length * scale), 1), most)
        for length, most in zip(image.size, box, strict=True)
    )
    left = (box[0] - width + 1) // 2
    top = (box[1] - height + 1) // 2
    canvas = Image.new("RGB", box)
    resized = image.resize((width, height), Image.Resampling.BILINEAR)
    canvas.paste(resized, (left, top))
    values = np.asarray(canvas, np.float32)
    return torch.from_numpy(normalise(values)).permute(2, 0, 1)[None]


def read_tokenizer(owner: str, name: str) -> Any:
    """BERT's tokenizer from a folder or hub id; raises UserError."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        require_hub(
            owner, name, "Connect, or name a folder with -O model.tokenizer=FOLDER."
        )
    return Source(owner, folder, name).read("tokenizer", transformers.AutoTokenizer)
