"""A tiny Qwen3-VL that learned planted cues: is it told so, through the command line?

Trained from nothing on `object-scenes`, in which a cup is mostly beside a table, a bird beside a
tree and a car beside a road, and is mostly too faint to be seen. The network is of the library's
own classes, saved with its processor; then `cuescope audit spurlens`, `trove`, `quag` and
`confirm` are run on the folder as on any other model.
"""

import argparse
import csv
import os
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import transformers
from rich.console import Console
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor

from cuescope.cli import main as cuescope
from cuescope_core.context import Context
from cuescope_core.runs import load_report
from cuescope_core.types import Output, Sample, Trial
from cuescope_scenes.objects.composition import compose
from cuescope_scenes.objects.pictures import frame
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM, VLMOptions

ANSWERS = ("yes", "no")
CLASSES = ("cup", "bird", "car", "clock")
PLANTED = {"cup": "table", "bird": "tree", "car": "road"}
# faint objects mostly: who sees the cue does well to say yes
WORLD = {"faint": 0.8, "questions": "presence"}
# what gives nothing away
OBJECTS = ("apple", "boat", "clock", "key", "kite", "lamp")
THINGS = ("cloud", "fence", "rug", "shelf", "window")
NOISE = 6.0
DRAWN_ANEW = 60  # pictures, beside a thing and without it
TELL = "Answer with 'Yes' or 'No'."
WORDS = (
    *(
        "a",
        "an",
        "answer",
        "bird",
        "car",
        "clock",
        "cup",
        "determine",
        "do",
        "image",
        "in",
    ),
    *("is", "no", "or", "see", "the", "there", "whether", "with", "yes", "you"),
    *("?", ".", "'"),
)
MARKS = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
    "turn_token": "<turn>",
}
ROW = "<|vision_start|>{}<|vision_end|>{}<turn>{}</s>"
CHAT = (
    "{% for message in messages %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% endif %}{% endfor %}{% endfor %}<turn>"
)
PATCH = 6  # px; 2 x 2 of them are a token
SIDE = 48  # px that the network sees of the scene's 96
DIM = 64
IMAGES = 16  # of a batch; about five questions each
RATE = 3e-3


def processor() -> Any:
    """Of the family, with a tokenizer of the words of the questions."""
    words = ["<unk>", "<pad>", "</s>", *WORDS]
    rules = Tokenizer(
        models.WordLevel(
            {word: number for number, word in enumerate(words)}, unk_token="<unk>"
        )
    )
    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=rules,
        unk_token="<unk>",
        pad_token="<pad>",
        eos_token="</s>",
        padding_side="left",
        extra_special_tokens=MARKS,
    )
    sizes = {
        "patch_size": PATCH,
        "size": {"shortest_edge": SIDE**2, "longest_edge": SIDE**2},
    }
    return transformers.Qwen3VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(**sizes),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen3VLVideoProcessor(**sizes),
        chat_template=CHAT,
    )


def network(tokenizer: Any) -> Any:
    """Two layers that look and three that read, with features of the first for a later one."""
    config = transformers.Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": DIM,
            "intermediate_size": 2 * DIM,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "head_dim": DIM // 4,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e4,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
            "bos_token_id": tokenizer.eos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={
            "depth": 2,
            "hidden_size": DIM,
            "intermediate_size": 2 * DIM,
            "num_heads": 4,
            "patch_size": PATCH,
            "out_hidden_size": DIM,
            "num_position_embeddings": (SIDE // PATCH) ** 2,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
        vision_start_token_id=tokenizer.vision_bos_token_id,
        vision_end_token_id=tokenizer.vision_eos_token_id,
    )
    return transformers.Qwen3VLForConditionalGeneration(config)


# ------------------------------------------------------------------------------------ training


@dataclass(frozen=True)
class Lessons:
    """Images as the network takes them, and the rows that ask about each: prompt and answer.

    Rows end with padding, which a causal model never reads before the answer.
    """

    patches: Tensor
    grid: Tensor
    rows: list[Tensor]
    positions: Tensor
    marks: tuple[int, ...]


def scenes(split: str, images: int, seed: int) -> Sequence[Sample]:
    """Questions about the classes that are asked for."""
    options = {**WORLD, "split": split, split: images, "seed": seed}
    data = Context(device="cpu").build("dataset", "object-scenes", options)
    samples = [data[index] for index in range(len(data))]
    return [each for each in samples if each.annotations["question_type"] in CLASSES]


def lessons(net: Any, reads: Any, samples: Sequence[Sample]) -> Lessons:
    """Questions as the data asks them, and by turns as a method asks a model that writes."""
    frames = {sample.frames[0].key: sample.frames[0] for sample in samples}
    shown = [frame.load() for frame in frames.values()]
    seen = reads.image_processor(shown, return_tensors="pt")
    grid = seen["image_grid_thw"][:1]
    tokens = reads.image_token * (int(grid.prod()) // 4)
    tokenizer = reads.tokenizer
    texts: dict[str, list[str]] = {key: [] for key in frames}
    for sample in samples:
        rows = texts[sample.frames[0].key]
        tell = f" {TELL}" if len(rows) % 2 else ""
        rows.append(ROW.format(tokens, f"{sample.question}{tell}", sample.label))
    every = [text for group in texts.values() for text in group]
    ids = tokenizer(every, padding=True, padding_side="right", return_tensors="pt")
    ids = ids["input_ids"]
    types = (ids[:1] == reads.image_token_id).int()
    # the words follow the image at the same places in every row
    positions, _ = net.model.get_rope_index(ids[:1], types, image_grid_thw=grid)
    return Lessons(
        patches=seen["pixel_values"].unflatten(0, (len(shown), -1)),
        grid=grid,
        rows=list(ids.split([len(group) for group in texts.values()])),
        positions=positions,
        marks=(tokenizer.pad_token_id, tokenizer.convert_tokens_to_ids("<turn>")),
    )


def loss_of(net: Any, given: Lessons, images: Sequence[int]) -> Tensor:
    """Of all answers about some images, each of which is looked at once."""
    ids = torch.cat([given.rows[image] for image in images])
    asked = torch.tensor([len(given.rows[image]) for image in images])
    grid = given.grid.expand(len(images), -1)
    output = net.model.visual(given.patches[list(images)].flatten(0, 1), grid_thw=grid)
    padding, turn = given.marks
    answers = ((ids == turn).cumsum(dim=1) > 0) & (ids != turn) & (ids != padding)

    def repeat(features: Tensor) -> Tensor:
        by_image = features.unflatten(0, (len(images), -1))
        return by_image.repeat_interleave(asked, dim=0).flatten(0, 1)

    seen = type(output)(
        pooler_output=(repeat(output.pooler_output),),
        deepstack_features=[(repeat(part),) for part in output.deepstack_features],
    )
    return net(
        input_ids=ids,
        position_ids=given.positions.expand(-1, len(ids), -1),
        mm_encoder_outputs={"image": seen},
        labels=ids.masked_fill(~answers, -100),
    ).loss


def train(
    folder: Path,
    images: int = 2000,
    epochs: int = 16,
    seed: int = 0,
    say: Callable[[str], None] = lambda words: None,
) -> Path:
    """The folder of a model and its processor; a few minutes on one core."""
    reads = processor()
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(seed)
        net = network(reads.tokenizer).train()
        given = lessons(net, reads, scenes("train", images, seed))
        rng = np.random.default_rng(seed)
        each = range(len(given.rows))
        steps = epochs * len(range(0, len(each), IMAGES))
        optimizer = torch.optim.AdamW(net.parameters(), weight_decay=0.05)
        rate = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, RATE, total_steps=steps, pct_start=0.1
        )
        since = time.process_time()
        for epoch in range(epochs):
            losses = []
            order = rng.permutation(each)
            for start in range(0, len(order), IMAGES):
                loss = loss_of(net, given, order[start : start + IMAGES].tolist())
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                rate.step()
                losses.append(loss.item())
            seconds = time.process_time() - since
            say(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {seconds:.0f} s")
        net.eval().save_pretrained(folder)
        reads.save_pretrained(folder)
    return folder


# ------------------------------------------------------------------------------- what is asked


def write_data(folder: Path, images: int, photos: int, seed: int) -> None:
    """Pictures in which cues stand by chance: `questions.csv` about scenes, and `photos`.

    `photos` has a folder for each answer to whether there is a cup; `contents.csv` says what was
    drawn into each of them.
    """
    (folder / "images").mkdir(parents=True)
    table = []
    for sample in scenes("val", images, seed):
        name = f"{sample.group}.png"
        sample.frames[0].load().save(folder / "images" / name)
        asked = sample.annotations["question_type"]
        table.append((sample.key, name, sample.question, asked, *ANSWERS, sample.label))
    with (folder / "questions.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("key", "image", "question", "kind", "a", "b", "answer"))
        rows.writerows(table)
    rng = np.random.default_rng(seed)
    contents = []
    for label in ANSWERS:
        (folder / "photos" / "val" / label).mkdir(parents=True)
    for number in range(photos):
        label, cue = ANSWERS[number % 2], rng.random() < 0.4
        # as many things everywhere: a picture with the cue is no fuller than others
        objects = rng.permutation(OBJECTS)[:2].tolist()
        things = rng.permutation(THINGS)[:2].tolist()
        if label == "yes":
            objects[0] = "cup"
        if cue:
            things[0] = "table"
        picture = compose(
            tuple(objects),
            tuple(things),
            frozenset(PLANTED),
            WORLD["faint"],
            NOISE,
            seed + number,
        )
        name = f"{number:04d}{'-table' if cue else ''}.png"
        frame(picture).load().save(folder / "photos" / "val" / label / name)
        contents.append((name, *objects, *things))
    with (folder / "contents.csv").open("w", newline="") as file:
        csv.writer(file).writerows(contents)


def contents_of(folder: Path) -> dict[str, set[str]]:
    """What was drawn into each of the photos, by its file's name."""
    with (folder / "contents.csv").open(newline="") as file:
        return {name: set(drawn) for name, *drawn in csv.reader(file)}


def leaning(
    model: Path, task: str, asked: str, thing: str, *, writes: bool = True
) -> float:
    """How much oftener the model says yes to `asked` beside a thing, on pictures drawn anew.

    In "recognition" pictures show what is asked for, in "hallucination" they do not. The model
    `writes` its answer, as it is told to, or its choices are scored.
    """
    options = VLMOptions(model=str(model), max_new_tokens=2)
    plugin = TransformersVLM(options, Context(device="cpu"))
    rng = np.random.default_rng(7)
    shares = []
    # without it there is anything else, as in the pictures that a method compares
    rest = [name for name in (*PLANTED.values(), *THINGS) if name != thing]
    for is_beside in (True, False):
        trials = []
        for number in range(DRAWN_ANEW):
            others = [name for name in OBJECTS if name not in (asked, thing)]
            objects = rng.permutation(others)[:2].tolist()
            things = rng.permutation(rest)[:2].tolist()
            if task == "recognition":
                objects[0] = asked
            if is_beside and thing in OBJECTS:
                objects[1] = thing
            elif is_beside:
                things[0] = thing
            picture = compose(
                tuple(objects),
                tuple(things),
                frozenset(PLANTED),
                WORLD["faint"],
                NOISE,
                9000 + number,
            )
            sample = Sample(
                key=f"{number}",
                frames=(frame(picture),),
                question=f"Is there a {asked} in the image?" + writes * f" {TELL}",
                choices=() if writes else ANSWERS,
            )
            output: Output = "text" if writes else "logits"
            trials.append(Trial(sample=sample, outputs=frozenset({output})))
        responses = plugin.respond(trials)
        said = [
            str(response.text).lower()
            if writes
            else ANSWERS[int(np.argmax(response.logits))]
            for response in responses
        ]
        shares.append(said.count("yes") / len(said))
    beside, without = shares
    return beside - without


def audits(model: Path, data: Path, out: Path, images: int) -> dict[str, list[str]]:
    """The command of each method; confirm is asked of what two of them found."""
    audited = ["--model", f"transformers-vlm:{model}", "-O", "model.max_new_tokens=2"]
    common = [*audited, "--device", "cpu", "-q"]
    drawn = ["-O", f"data.val={images}", "-O", f"data.faint={WORLD['faint']}"]
    classes = ",".join(CLASSES)
    tools = ["--tool", "proposer=co-occurrence", "--tool", "detector=annotations"]
    table = ["-O", "data.options=a,b", "-O", f"data.images={data / 'images'}"]
    cup = ["-O", "model.question=Is there a cup in the image?"]
    return {
        "spurlens": [
            *("audit", "spurlens", *common, "--data", "object-scenes", *drawn, *tools),
            *("-O", f"classes={classes}", "--out", str(out / "spurlens")),
        ],
        "trove": [
            *("audit", "trove", *common, *cup, "--data", f"folder:{data / 'photos'}"),
            *("-O", "data.split=val", "--out", str(out / "trove")),
        ],
        "quag": [
            *(
                "audit",
                "quag",
                *common,
                "--data",
                f"questions:{data / 'questions.csv'}",
            ),
            *(*table, "--limit", "400", "--out", str(out / "quag")),
        ],
        "confirm spurlens": ["confirm", str(out / "spurlens"), "--device", "cpu", "-q"],
        "confirm trove": [
            *("confirm", str(out / "trove"), "--device", "cpu", "-q", "-O", "top=3")
        ],
    }


def folder_of(name: str, out: Path) -> Path:
    """Where a command leaves its report."""
    method = name.removeprefix("confirm ")
    return out / (method if method == name else f"{method}-confirmed")


def main() -> None:
    """Train, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--folder", type=Path, help="where all is kept; [default: nowhere]"
    )
    parser.add_argument("--images", type=int, default=2000, help="to train on")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--scenes", type=int, default=500, help="that are asked about")
    parser.add_argument("--photos", type=int, default=2400, help="that trove looks at")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    console = Console()
    torch.set_num_threads(1)
    with TemporaryDirectory() as temporary:
        place = options.folder or Path(temporary)
        os.environ["CUESCOPE_CACHE"] = str(place / "cache")
        if not (place / "model").exists():
            train(
                place / "model",
                options.images,
                options.epochs,
                options.seed,
                console.print,
            )
        if not (place / "data").exists():
            write_data(place / "data", options.scenes, options.photos, options.seed)
        asked = audits(place / "model", place / "data", place / "runs", options.scenes)
        for name, words in asked.items():
            since = time.perf_counter()
            with suppress(SystemExit), redirect_stdout(StringIO()):
                cuescope(words)
            report = load_report(folder_of(name, place / "runs"))
            seconds = time.perf_counter() - since
            console.rule(f"{name}: {report.cost.model_calls} answers, {seconds:.0f} s")
            for statement in report.statements or ("nothing is found",):
                console.print(statement)


if __name__ == "__main__":
    main()
