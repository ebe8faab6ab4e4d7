"""What each family of `tiny_families` does; writes benchmarks/results/families.md."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import transformers

sys.path.insert(0, str(Path(__file__).parent))

import tiny_families
from tiny_families import FAMILIES

import cuescope_transformers.generative.hiding as hiding
from cuescope_sdk import Context, Frame, HideTokens, Response, Sample, Trial, UserError
from cuescope_sdk.fusion import AverageAttention
from cuescope_sdk.torch import quiet
from cuescope_transformers.generative import TransformersVLM, VLMOptions
from cuescope_transformers.generative.batches import batches, rows_of
from cuescope_transformers.generative.family import family_of
from cuescope_transformers.generative.inputs import network_inputs

RESULTS = Path(__file__).parents[5] / "benchmarks" / "results" / "families.md"
CHOICES = ("yes", "no", "dog")
QUESTIONS = (
    "what is it",
    "is it red",
    "what is the dog",
    "is the ball moving",
    "what ?",
)
BOTH = frozenset({"logits", "text"})
SIDE = 32
FILM = 4  # frames
HIDDEN = 16  # pixels a side of the corner that is hidden
INSIDE = 11  # of these: resizing blurs what is nearer to the border
CLOSE = 2e-5
# SmolVLM spells numbers with a package that need not be here
SPELLER = "transformers.models.smolvlm.processing_smolvlm.num2words"
Parts = tuple[Any, Any]
# their processors want sizes that no rule makes small; what stands in `conftest` is used
BY_HAND = {
    "blip-2": "blip-2",
    "florence2": "florence2",
    "idefics3": "idefics3",
    "llava_next": "llava-next",
    "llava_next_video": "llava-next-video",
    "llava_onevision": "llava-onevision",
    "mllama": "mllama",
    "paligemma": "paligemma",
    "smolvlm": "smolvlm",
    "t5gemma2": "t5gemma2",
}


@dataclass(frozen=True)
class Row:
    """A line of the table; empty where the family does not, or was not built."""

    kind: str
    answers: str = ""
    embeds: str = ""
    hides: str = ""
    averages: str = ""
    prefixes: str = ""
    videos: str = ""
    refuses: str = ""


class WrongError(AssertionError):
    """A family does not do what its plan says."""


def require(fact: bool, words: str) -> None:
    if not fact:
        raise WrongError(words)


def pixels(seed: int) -> np.ndarray:
    return noise_of((SIDE, SIDE), seed)


def noise_of(size: tuple[int, int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)


def asking(shown: np.ndarray, mask: np.ndarray | None = None, **fields: Any) -> Trial:
    sample = Sample(
        key="a sample",
        frames=(Frame.from_array(shown),),
        question=fields.pop("question", QUESTIONS[0]),
        choices=CHOICES,
    )
    edit = None if mask is None else HideTokens.from_mask(mask[None])
    return Trial(sample=sample, **{"edit": edit, "outputs": BOTH, **fields})


def farthest(one: list[Response], other: list[Response]) -> float:
    pairs = zip(one, other, strict=True)
    return max(float(np.abs(np.subtract(a.logits, b.logits)).max()) for a, b in pairs)


def open_plugin(parts: Parts, **options: Any) -> TransformersVLM:
    given = VLMOptions(model="tiny", max_new_tokens=3, **options)
    context = Context(device="cpu", dtype="float32", batch_size=8)
    return TransformersVLM.from_object(parts, given, context)


def examine(kind: str, parts: Callable[[], Parts]) -> Row:
    """The family's line; raises WrongError where a run is not what the plan says."""
    try:
        pair = parts()
    except Exception as error:
        return Row(kind, refuses=f"not built here: {_one_line(error)}")
    try:
        plugin = open_plugin(pair)
    except UserError as refusal:
        return Row(kind, refuses=_one_line(refusal).partition("tiny ")[2])
    try:
        direct = call_library(plugin, parts)
    except Exception as error:
        return Row(kind, refuses=f"not built here: {_one_line(error)}")
    _check_plan(plugin)
    _check_answers(plugin, direct)
    row = Row(
        kind,
        answers="yes",
        embeds=_check_embedding(plugin),
        hides=_check_hiding(plugin),
    )
    family = plugin._model.family
    reasons = [family.why_not_hidden, family.why_not_averaged]
    refuses = "; ".join(dict.fromkeys(filter(None, reasons)))
    row = replace(row, averages=_check_averaging(plugin), refuses=refuses)
    row = replace(row, prefixes=_check_prefixes(plugin, pair))
    return replace(row, videos=_check_videos(plugin, parts))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:110].replace("|", "/")


def _check_plan(plugin: TransformersVLM) -> None:
    """The modules without weights say what those with weights do."""
    files = plugin._model.files
    bare = SimpleNamespace(
        config=files.config,
        network_class=files.network_class,
        source=files.source,
        trust_remote_code=False,
    )
    planned = family_of(bare, plugin._model.visual)
    require(planned == plugin._model.family, f"planned {planned}")


@dataclass(frozen=True)
class Direct:
    """What the library's own call gives for a sample."""

    choices: np.ndarray | None
    text: str


@torch.inference_mode()
def call_library(plugin: TransformersVLM, parts: Callable[[], Parts]) -> Direct:
    """The answer of a network that this package never touched."""
    trial = asking(pixels(0))
    model = plugin._model
    [row] = rows_of(model, [trial])
    inputs = network_inputs(model, [trial.sample], [row.prompt])
    shown = set(inputs["input_ids"].flatten().tolist())
    if model.visual and not model.visual & shown:
        raise tiny_families.NotBuiltError(
            "configuration and processor name other placeholders"
        )
    network, processor = parts()
    network.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    with quiet():
        output = network.generate(
            **inputs,
            max_new_tokens=3,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
        other = network_inputs(model, [asking(pixels(1)).sample], [row.prompt])
        second = network.generate(
            **other,
            max_new_tokens=1,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    if torch.equal(output.logits[0], second.logits[0]):
        raise tiny_families.NotBuiltError("a random network of it does not see")
    count = len(output.logits)
    text = processor.tokenizer.decode(
        output.sequences[0][-count:], skip_special_tokens=True
    )
    if network.config.is_encoder_decoder:
        return Direct(None, text.strip())
    ids = processor.tokenizer.convert_tokens_to_ids(list(CHOICES))
    first = output.logits[0][0].float().log_softmax(-1)
    return Direct(first[ids].numpy(), text.strip())


def _check_answers(plugin: TransformersVLM, direct: Direct) -> None:
    [told] = plugin.respond([asking(pixels(0))])
    require(
        told.text == direct.text,
        f"'{told.text}' where the library says '{direct.text}'",
    )
    if direct.choices is not None:
        gap = float(np.abs(direct.choices - told.logits).max())
        require(gap < CLOSE, f"logits are {gap} from the library's")


def _check_embedding(plugin: TransformersVLM) -> str:
    if "embedding" not in plugin.capabilities.outputs:
        return ""
    shown = [pixels(0), pixels(1)]
    trials = [asking(image, outputs=frozenset({"embedding"})) for image in shown]
    one, other = (response.embedding for response in plugin.respond(trials))
    require(bool(np.isfinite(one).all()), "the embedding is not finite")
    require(float(np.abs(one - other).max()) > 0, "two images have one embedding")
    return "yes"


def _check_hiding(plugin: TransformersVLM) -> str:
    """Noise in the hidden corner changes nothing, whether or not it was made grey before."""
    if "hide-tokens" not in plugin.capabilities.edits:
        return ""
    shown = pixels(0)
    noisy = shown.copy()
    noisy[:INSIDE, :INSIDE] = pixels(5)[:INSIDE, :INSIDE]
    mask = np.zeros((SIDE, SIDE), dtype=bool)
    plain = plugin.respond([asking(shown)])
    nothing = plugin.respond([asking(shown, mask)])
    require(farthest(plain, nothing) < CLOSE, "an empty mask is an edit")
    mask[:HIDDEN, :HIDDEN] = True
    hidden = plugin.respond([asking(shown, mask)])
    other = plugin.respond([asking(noisy, mask)])
    require(farthest(hidden, other) < 1e-6, "hidden pixels have an influence")
    require(hidden[0].text == other[0].text, "hidden pixels change the text")
    require(farthest(plain, hidden) > 1e-7, "hiding changes nothing")
    everything = np.ones_like(mask)
    alike = [plugin.respond([asking(pixels(seed), everything)]) for seed in (0, 1)]
    require(farthest(*alike) < 1e-6, "hiding all leaves something")
    # the frames go in as they are: whatever is hidden is so in the network alone
    with patch.object(hiding, "grey_out", lambda sample, masks: sample):
        raw = [plugin.respond([asking(image, mask)]) for image in (shown, noisy)]
    require(farthest(*raw) < CLOSE, "a visible token has read a hidden pixel")
    return "yes"


def _check_averaging(plugin: TransformersVLM) -> str:
    if "average-attention" not in plugin.capabilities.edits:
        return ""
    edit = AverageAttention(quadrants=frozenset({"VT", "TV", "TT"}))
    nothing = AverageAttention(quadrants=frozenset())
    shown = pixels(0)
    plain, empty, edited = (
        plugin.respond([asking(shown, edit=change)]) for change in (None, nothing, edit)
    )
    require(farthest(plain, empty) < CLOSE, "an empty edit is none")
    require(farthest(plain, edited) > CLOSE, "averaging changes nothing")
    return f"{plugin.fusion.layers} of {plugin.fusion.layers} layers"


def _check_prefixes(plugin: TransformersVLM, pair: Parts) -> str:
    trials = [asking(pixels(0), question=question) for question in QUESTIONS]
    whole = open_plugin(pair, reuse_prefix=False).respond(trials)
    reused = plugin.respond(trials)
    require(farthest(whole, reused) < CLOSE, "a prefix gives other answers")
    model = plugin._model
    [*parts] = batches(model, rows_of(model, trials), reuse=True)
    took = any("past_key_values" in batch.inputs for _, batch in parts)
    return "yes" if took else ""


def _check_videos(plugin: TransformersVLM, parts: Callable[[], Parts]) -> str:
    """Answers about a video, alone and among others, and hiding in some frames of it."""
    if getattr(plugin._model.processor, "video_processor", None) is None:
        return ""
    shown_as = "" if plugin._model.takes_videos else ", as images"
    films = [film(0), film(1)]
    expected = call_library_on(plugin, parts, films)
    if expected is None:
        return ""
    plain = plugin.respond([asking_film(shown) for shown in films])
    for told, logits in zip(plain, expected, strict=True):
        gap = float(np.abs(logits - told.logits).max())
        require(gap < CLOSE, f"logits of a video are {gap} from the library's")
    if "hide-tokens" not in plugin.capabilities.edits:
        return f"answers{shown_as}"
    mask = np.zeros(films[0].shape[:3], dtype=bool)
    nothing = plugin.respond([asking_film(films[0], mask)])
    require(farthest(plain[:1], nothing) < CLOSE, "an empty mask of a video is an edit")
    mask[1:3, :HIDDEN, :HIDDEN] = True
    hidden = plugin.respond([asking_film(films[0], mask)])
    other = plugin.respond([asking_film(noisy_film(), mask)])
    require(farthest(hidden, other) < 1e-6, "hidden pixels of a video count")
    # among others, where rows differ by rounding
    batch = [asking_film(shown, mask) for shown in (noisy_film(), films[0], films[1])]
    beside, *_ = plugin.respond(batch)
    require(farthest(hidden, [beside]) < CLOSE, "in a batch hidden pixels count")
    require(farthest(plain[:1], hidden) > 1e-7, "hiding in a video does nothing")
    return f"hides{shown_as}"


def film(seed: int) -> np.ndarray:
    return np.stack([pixels(FILM * seed + number) for number in range(FILM)])


def noisy_film() -> np.ndarray:
    """The first film with other pixels in a corner of its middle frames."""
    noisy = film(0)
    noisy[1:3, :INSIDE, :INSIDE] = film(5)[1:3, :INSIDE, :INSIDE]
    return noisy


def asking_film(shown: np.ndarray, mask: np.ndarray | None = None) -> Trial:
    frames = tuple(map(Frame.from_array, shown))
    sample = Sample(key="a film", frames=frames, question=QUESTIONS[0], choices=CHOICES)
    edit = None if mask is None else HideTokens.from_mask(mask)
    return Trial(sample=sample, edit=edit, outputs=BOTH)


@torch.inference_mode()
def call_library_on(
    plugin: TransformersVLM, parts: Callable[[], Parts], films: list[np.ndarray]
) -> np.ndarray | None:
    """Logits of the choices; None where the library's own tiny net cannot watch a film.

    It can where its call ends, every film has an influence, and so have the middle frames.
    """
    model = plugin._model
    network, processor = parts()
    if network.config.is_encoder_decoder:
        return None
    network.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    ids = processor.tokenizer.convert_tokens_to_ids(list(CHOICES))
    told = []
    for shown in (*films, noisy_film()):
        trial = asking_film(shown)
        [row] = rows_of(model, [trial])
        try:
            inputs = network_inputs(model, [trial.sample], [row.prompt])
            with quiet():
                output = network.generate(
                    **inputs,
                    max_new_tokens=1,
                    do_sample=False,
                    output_logits=True,
                    return_dict_in_generate=True,
                )
        # a configuration made small may fit images alone
        except Exception:
            return None
        told.append(output.logits[0][0].float().log_softmax(-1)[ids].numpy())
    apart = min(np.abs(told[0] - other).max() for other in told[1:])
    return np.stack(told[: len(films)]) if apart > 1e-7 else None


# ------------------------------------------------------------------------------------ the table


def table(rows: list[Row]) -> str:
    """The page: counts, and a line a family."""
    names = (
        *("answers", "embeds", "hides", "averages", "prefixes"),
        "videos",
    )
    counts = {name: sum(bool(getattr(row, name)) for row in rows) for name in names}
    hides = sum(row.videos.startswith("hides") for row in rows)
    unbuilt = sum(row.refuses.startswith("not built") for row in rows)
    refused = sum(not row.answers for row in rows) - unbuilt
    columns = ("family", *names, "refuses in the plan")
    lines = [f"| `{row.kind}` | {' | '.join(astuple(row)[1:])} |" for row in rows]
    return "\n".join(
        (
            "# Families of transformers",
            "",
            f"What `transformers-vlm` does with each family that transformers "
            f"{transformers.__version__} names for images or videos and text. Written by",
            "`python plugins/models/transformers/tests/generative/every_family.py`, on tiny random",
            "networks of the families' own classes, with the families' own processors.",
            "",
            f"Of {len(rows)} families {counts['answers']} answer as the library's own call does, "
            f"{counts['embeds']} give embeddings, {counts['hides']} hide tokens, "
            f"{counts['averages']} average attention in all layers, "
            f"{counts['prefixes']} read an image once for many questions. {refused} are refused "
            f"as a whole, and {unbuilt} were not built here: of those nothing is known.",
            "",
            "Where tokens are hidden, other pixels under the mask changed the answer by less than",
            "1e-6, and by less than 2e-5 where these pixels were not made grey before: no visible",
            "token has read one.",
            "",
            f"*Videos*: of four frames, shown as one video, {counts['videos']} families answer as "
            "the library's own call",
            f"does, alone and in a batch. In {hides} of them a corner of two frames was "
            "hidden, and other pixels there",
            "changed the answer by less than 1e-6; timestamps and separators stay. Where the "
            "cell is empty the family takes no video.",
            "*As images*: transformers fails on a video of this family, so its frames are shown as "
            "images; the report says so.",
            "",
            f"| {' | '.join(columns)} |",
            f"|{'---|' * len(columns)}",
            *lines,
            "",
        )
    )


def parts_of(kind: str, folder: Path) -> Callable[[], Parts]:
    """Builds a family, by the rules for all or as `conftest` has it written out."""
    if kind not in BY_HAND:
        return lambda: tiny_families.tiny_family(kind)
    name = BY_HAND[kind]
    if not (folder / name).exists():
        spec = spec_from_file_location(
            "hand_made", Path(__file__).with_name("conftest.py")
        )
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        module.write_family(name, folder / name)
    return lambda: _open_folder(folder / name)


def _open_folder(folder: Path) -> Parts:
    with quiet():
        network = transformers.AutoModelForMultimodalLM.from_pretrained(folder)
        return network.eval(), transformers.AutoProcessor.from_pretrained(folder)


def main() -> None:
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    with TemporaryDirectory() as folder, patch(SPELLER, str):
        rows = [examine(kind, parts_of(kind, Path(folder))) for kind in FAMILIES]
    RESULTS.write_text(table(rows))


if __name__ == "__main__":
    main()
