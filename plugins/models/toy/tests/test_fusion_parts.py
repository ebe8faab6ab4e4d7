"""The fusion network against torch's own layers; words and padding as numbers; its training."""

from typing import Any

import numpy as np
import pytest
import torch

from cuescope_sdk import Frame, Sample, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_toy.fusion import ToyFusionOptions, choice_logits
from cuescope_toy.fusion.dataset import Vocabulary, answer_ids, split_words, tokenize
from cuescope_toy.fusion.network import (
    Batch,
    embed_tokens,
    forward,
    initial_weights,
    weight_shapes,
)
from cuescope_toy.fusion.training import (
    EncodedSplit,
    evaluate,
    fit,
    learning_rate_share,
)
from cuescope_toy.options import HEADS

NETWORK = ToyFusionOptions(layers=2)
OPTIONS = ToyFusionOptions(
    layers=1,
    learning_rate=3e-3,
    epochs=20,
    patience=20,
    enough=1.0,
)
WORDS = Vocabulary(("w0", "w1", "w2"), ("a", "b", "c"))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def weights_of(
    options: ToyFusionOptions = NETWORK, words: int = 9, answers: int = 4
) -> dict[str, torch.Tensor]:
    """Random biases and norms too, or a test would not see them."""
    weights = initial_weights(weight_shapes(options, 6, words, answers), generator())
    drawn = generator(1)
    for name, weight in weights.items():
        if name.endswith("bias") or "norm" in name:
            weight += 0.3 * torch.randn(weight.shape, generator=drawn)
    return {"input.mean": torch.zeros(6), "input.scale": torch.ones(()), **weights}


def asked(frames: int, words: int, batch: int = 3) -> Batch:
    return Batch(
        torch.randn(batch, frames, 6, generator=generator(2)),
        torch.ones(batch, frames, dtype=torch.bool),
        torch.randint(0, 7, (batch, words), generator=generator(3)),
    )


def blank(*keys: str) -> tuple[Frame, ...]:
    return tuple(Frame(key, lambda: None) for key in keys)  # type: ignore[arg-type,return-value]


def test_equals_torchs_own_layers() -> None:
    weights, batch = weights_of(), asked(4, 5)
    tokens = embed_tokens(weights, batch, positions=True)
    for layer in range(NETWORK.layers):
        own = {
            name[6:]: w[layer]
            for name, w in weights.items()
            if name.startswith("layer.")
        }
        stock: Any = torch.nn.TransformerEncoderLayer(
            64, HEADS, 256, 0.0, "gelu", batch_first=True, norm_first=True
        ).eval()
        parts = ("query", "key", "value")
        stock.load_state_dict(
            {
                "self_attn.in_proj_weight": torch.cat(
                    [own[f"{p}.weight"].T for p in parts]
                ),
                "self_attn.in_proj_bias": torch.cat([own[f"{p}.bias"] for p in parts]),
                **_linear("self_attn.out_proj", own, "mixed"),
                **_linear("linear1", own, "widen"),
                **_linear("linear2", own, "narrow"),
                **{f"norm1.{p}": own[f"attend.norm.{p}"] for p in ("weight", "bias")},
                **{f"norm2.{p}": own[f"think.norm.{p}"] for p in ("weight", "bias")},
            }
        )
        tokens = stock(tokens)
    last = torch.nn.functional.layer_norm(
        tokens[:, -1], (64,), weights["answer.norm.weight"], weights["answer.norm.bias"]
    )
    expected = last @ weights["answer.weight"] + weights["answer.bias"]
    torch.testing.assert_close(forward(weights, batch, positions=True), expected)


def _linear(
    name: str, own: dict[str, torch.Tensor], ours: str
) -> dict[str, torch.Tensor]:
    return {
        f"{name}.weight": own[f"{ours}.weight"].T,
        f"{name}.bias": own[f"{ours}.bias"],
    }


def test_only_positions_tell_the_order_of_frames() -> None:
    weights, batch = weights_of(), asked(4, 5)
    turned = Batch(batch.video.flip(1), batch.video_mask, batch.word_ids)
    bag = [forward(weights, order, positions=False) for order in (batch, turned)]
    torch.testing.assert_close(*bag)
    video = [forward(weights, order, positions=True) for order in (batch, turned)]
    assert (video[0] - video[1]).abs().max() > 1e-2


def test_the_order_of_words_always_matters() -> None:
    weights, batch = weights_of(), asked(4, 5)
    turned = Batch(batch.video, batch.video_mask, batch.word_ids.flip(1))
    text = [forward(weights, order, positions=False) for order in (batch, turned)]
    assert (text[0] - text[1]).abs().max() > 1e-2


def test_padding_is_neither_seen_nor_video_nor_text() -> None:
    weights, batch = weights_of(), asked(2, 3)
    padded = Batch(
        torch.cat([batch.video, torch.full((3, 2, 6), 1e3)], dim=1),
        torch.tensor([[True, True, False, False]] * 3),
        torch.cat([batch.word_ids, torch.full((3, 4), -1)], dim=1),
    )
    expected = [VIDEO] * 2 + [OTHER] * 2 + [TEXT] * 3 + [OTHER] * 4 + [TEXT]
    assert padded.modality.tolist() == [expected] * 3
    torch.testing.assert_close(
        forward(weights, padded, positions=True),
        forward(weights, batch, positions=True),
    )


def test_samples_become_numbers() -> None:
    samples = [
        Sample(
            key="a", frames=blank("x", "y"), question="Which WAY is it?", label="up"
        ),
        Sample(key="b", frames=blank("y"), question=None, label="down"),
        Sample(key="c", frames=(), question="which mouse", label="sideways"),
    ]
    vocabulary = Vocabulary.of(samples[:2])
    assert vocabulary == Vocabulary(("is", "it", "way", "which"), ("down", "up"))
    assert Vocabulary.from_tensor(vocabulary.to_tensor()) == vocabulary
    numbers = tokenize(samples, vocabulary)
    assert [frame.key for frame in numbers.frames] == ["x", "y"]
    assert numbers.frame_ids.tolist() == [[0, 1], [1, -1], [-1, -1]]
    assert numbers.word_ids.tolist() == [[3, 2, 0, 1], [-1] * 4, [3, 4, -1, -1]]
    assert answer_ids(samples, vocabulary).tolist() == [1, 0, -1]
    batch = numbers.batch(torch.tensor([[[10.0]], [[20.0]]]), torch.tensor([1, 0]))
    assert batch.video[:, :, 0].where(batch.video_mask, -1).tolist() == [
        [20, -1],
        [10, 20],
    ]
    assert batch.word_ids.tolist() == numbers.word_ids[[1, 0]].tolist()


def test_words_are_words_of_any_language() -> None:
    assert split_words("Où va-t-il, à gauche?") == [
        "où",
        "va",
        "t",
        "il",
        "à",
        "gauche",
    ]
    assert split_words(None) == split_words("?!") == []


def test_a_sample_without_a_label_is_told() -> None:
    sample = Sample(key="a", frames=(), question="why")
    with pytest.raises(UserError, match=r"'a' cannot be trained on: .*got no label"):
        answer_ids([sample], Vocabulary((), ("up",)))


def test_the_learning_rate_rises_then_falls_to_nothing() -> None:
    shares = [learning_rate_share(done) for done in (0.0, 0.05, 0.1, 0.55, 1.0)]
    np.testing.assert_allclose(shares, [0, 0.5, 1, 0.5, 0])


def split_of(count: int, seed: int) -> EncodedSplit:
    """The answer is the first word, whatever the frames."""
    drawn = generator(seed)
    samples = [
        Sample(
            key=str(n),
            frames=blank(*map(str, row.tolist())),
            question=f"w{word} w{tail}",
        )
        for n, (row, word, tail) in enumerate(
            zip(
                torch.randint(0, 8, (count, 3), generator=drawn),
                torch.randint(0, 3, (count,), generator=drawn).tolist(),
                torch.randint(0, 3, (count,), generator=drawn).tolist(),
                strict=True,
            )
        )
    ]
    numbers = tokenize(samples, WORDS)
    features = torch.randn(len(numbers.frames), 1, 6, generator=drawn)
    return EncodedSplit(numbers, features, numbers.word_ids[:, 0])


def test_fit_learns_stops_when_it_is_enough_and_tells_what_it_reached() -> None:
    train, val = split_of(200, 0), split_of(80, 1)
    steps: list[int] = []
    result = fit(train, val, WORDS, OPTIONS, generator(), steps.append)
    assert result.accuracy == 1
    assert result.epochs == len(steps) < OPTIONS.epochs
    assert evaluate(result.weights, val, positions=True)[1] == 1
    again = fit(train, val, WORDS, OPTIONS, generator(), steps.append)
    assert all(
        torch.equal(again.weights[name], w) for name, w in result.weights.items()
    )


def test_an_answer_that_was_never_trained_on_counts_as_wrong() -> None:
    val = split_of(80, 1)
    unknown = EncodedSplit(val.samples, val.features, torch.full((80,), -1))
    weights = weights_of(OPTIONS, words=5, answers=3)
    assert evaluate(weights, unknown, positions=True) == (0, 0)


def test_unknown_choices_come_last_and_all_unknown_are_refused() -> None:
    row = np.array([0.5, -2.0, 3.0], np.float32)
    answers = ("a", "b", "c")
    assert choice_logits(row, answers, ("x", "c", "b"), "k").tolist() == [-3, 3, -2]
    with pytest.raises(
        UserError, match=r"'k' has no choice .*expected any of a, b, c, got x, y"
    ):
        choice_logits(row, answers, ("x", "y"), "k")
    many = tuple("abcdefg")
    with pytest.raises(UserError, match=r"any of a, b, c, d, e, \.\.\., got x"):
        choice_logits(np.zeros(7, np.float32), many, ("x",), "k")


@pytest.mark.parametrize(
    "text", ["[]", "[[1], []]", '[["a"], "b"]', "{}", "[" * 100_000, "\udc80"]
)
def test_bytes_that_are_no_vocabulary_are_refused(text):
    content = list(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=r".+"):
        Vocabulary.from_tensor(torch.tensor(content, dtype=torch.uint8))
