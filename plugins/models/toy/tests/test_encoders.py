"""Frozen features: what they keep, and what they do not depend on."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    Options,
    Response,
    Trial,
    UserError,
)
from cuescope_testing import FakeDataset, PluginShelf
from cuescope_toy import ToyOptions, encoders
from cuescope_toy.encoders import (
    CELLS,
    FrameFeatures,
    GridEncoder,
    ModelEncoder,
    build_encoder,
    colour_grid,
    text_embedding,
)


def _frame(row: int = 20, col: int = 20, background: int = 0) -> Frame:
    pixels = np.zeros((60, 60, 3), np.uint8)
    pixels[..., 0] = background
    pixels[row : row + 10, col : col + 10] = (0, 0, 255)
    return Frame.from_array(pixels)


def test_grid_is_the_mean_of_each_cell() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (60, 36, 3), dtype=np.uint8)
    expected = pixels.reshape(CELLS, 5, CELLS, 3, 3).mean(axis=(1, 3))
    grid = colour_grid(Image.fromarray(pixels)).reshape(CELLS, CELLS, 3)
    # Pillow rounds to bytes twice, once an axis
    np.testing.assert_allclose(grid, expected, rtol=0, atol=1)


def test_features_are_unit_and_tell_a_pixels_motion() -> None:
    still, moved = GridEncoder(8).encode([_frame(col=20), _frame(col=21)])
    assert np.linalg.norm(still) == pytest.approx(1, abs=1e-6)
    assert np.abs(still - moved).max() > 1e-3


def test_features_do_not_depend_on_the_batch_by_a_bit() -> None:
    frames = [_frame(row, col) for row in range(0, 50, 10) for col in range(0, 50, 10)]
    together = GridEncoder(8).encode(frames)
    alone = np.concatenate([GridEncoder(8).encode([frame]) for frame in frames])
    np.testing.assert_array_equal(together, alone)


def test_a_bright_cue_drowns_the_motion() -> None:
    """What makes the shortcut easier than the task: the same step moves the features less."""

    def step(background: int) -> float:
        one, other = GridEncoder(8).encode(
            [_frame(col=c, background=background) for c in (20, 30)]
        )
        return float(np.linalg.norm(one - other))

    assert step(255) < 0.5 * step(0)


def test_texts_are_unit_and_depend_on_their_words() -> None:
    one, other = text_embedding("moving north", 64), text_embedding("moving south", 64)
    assert np.linalg.norm([one, other], axis=1) == pytest.approx([1, 1], abs=1e-6)
    assert abs(one @ other) < 0.5
    np.testing.assert_array_equal(one, text_embedding("moving north", 64))


class AnyArgument(Options):
    """Takes one, and does nothing with it."""

    argument = "name"
    name: str = ""


class Brightness:
    """Embeds a frame by its mean colour; keeps what it was asked."""

    Options: ClassVar[type[Options]] = AnyArgument
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"embedding"})
    )
    fingerprint = "brightness"
    facts: Mapping[str, str] = {}

    def __init__(self, options: Any = None, context: Any = None) -> None:
        self.options, self.context = options, context
        self.asked: list[int] = []

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        assert all(
            len(t.sample.frames) == 1 and t.outputs == {"embedding"} for t in trials
        )
        self.asked.append(len(trials))
        means = [np.asarray(t.sample.frames[0].load()).mean((0, 1)) for t in trials]
        return [Response(embedding=mean) for mean in means]


class Reader(Brightness):
    """Reads texts too."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.eye(3)[[len(text) % 3 for text in texts]]


class Mute(Brightness):
    """Gives no embeddings."""

    capabilities: ClassVar[Capabilities] = Capabilities(outputs=frozenset({"text"}))


def test_another_model_is_asked_frame_by_frame_in_batches() -> None:
    model = Brightness()
    frames = [_frame(background=value) for value in range(0, 250, 50)]
    context = Context(PluginShelf({}), batch_size=2)
    features = FrameFeatures(ModelEncoder(model, 8), context).of_frames(frames)
    assert model.asked == [2, 2, 1]
    expected = [np.asarray(frame.load()).mean((0, 1)) for frame in frames]
    np.testing.assert_allclose(features, expected, atol=1e-4)


def test_texts_of_another_model_are_its_own_where_it_has_any() -> None:
    own = ModelEncoder(Reader(), 8).embed_texts(["a", "bb"])
    np.testing.assert_array_equal(own, np.eye(3)[[1, 2]])
    assert own.dtype == np.float32
    built_in = ModelEncoder(Brightness(), 8).embed_texts(["a"])
    np.testing.assert_array_equal(built_in, [text_embedding("a", 8)])


def test_the_encoder_is_found_by_its_spec() -> None:
    shelf = PluginShelf({("model", "brightness"): Brightness, ("model", "mute"): Mute})
    options: Any = FakeDataset.Options()
    audited: Any = FakeDataset(options, Context(shelf))
    context = Context(shelf, dataset=audited)
    assert isinstance(build_encoder(ToyOptions(), context), GridEncoder)
    by_option: dict[str, Any] = {
        "encoder": "brightness",
        "encoder_options": {"name": "x"},
    }
    for named in ({"encoder": "brightness:x"}, by_option):
        found = build_encoder(ToyOptions(**named), context)
        assert isinstance(found, ModelEncoder)
        assert isinstance(found.model, Brightness)
        assert found.model.options.name == "x"
        assert found.model.context.dataset is None
    with pytest.raises(UserError, match=r"'mute' gives no embeddings: .*got text"):
        build_encoder(ToyOptions(encoder="mute"), context)
    with pytest.raises(UserError, match="Did you mean 'brightness'"):
        build_encoder(ToyOptions(encoder="brightnes"), context)


class Counting(GridEncoder):
    """Counts how often each frame is encoded."""

    def __init__(self) -> None:
        super().__init__(8)
        self.keys: list[str] = []

    def encode(self, frames: Sequence[Frame]) -> np.ndarray:
        self.keys += [frame.key for frame in frames]
        return super().encode(frames)


def test_a_frame_is_encoded_once() -> None:
    encoder = Counting()
    features = FrameFeatures(encoder, Context(PluginShelf({})))
    a, b, c = (_frame(col=col) for col in (0, 10, 20))
    clips = features.of_clips([[a, a, a], [b, a, b]])
    assert encoder.keys == [a.key, b.key]
    expected = GridEncoder(8).encode([a, b])
    np.testing.assert_allclose(clips, expected[[[0, 0, 0], [1, 0, 1]]], atol=1e-6)
    features.of_clips([[c, b, a]])
    assert encoder.keys == [a.key, b.key, c.key]


def test_what_was_shown_last_is_remembered_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = Counting()
    monkeypatch.setattr(
        encoders, "MEMORY_BYTES", 2 * encoder.encode([_frame()])[0].nbytes
    )
    encoder.keys.clear()
    features = FrameFeatures(encoder, Context(PluginShelf({})))
    a, b, c = (_frame(col=col) for col in (0, 10, 20))
    for frame in (a, b, a, c, a, b):
        features.of_frames([frame])
    assert encoder.keys == [a.key, b.key, c.key, b.key]
