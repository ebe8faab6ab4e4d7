"""Contract of `HideTokens` on models that show their patches."""

from functools import partial
from typing import cast

import numpy as np
from jaxtyping import Bool

from cuescope_core.capabilities import EmbedsChoices, HasPatches
from cuescope_sdk import Frame, HideTokens, Sample, Trial, UserError, generator
from cuescope_sdk.models import tokens_under
from cuescope_testing._contract import (
    ContractViolation,
    NotApplicable,
    PerClass,
    expect,
    expect_no_error,
)
from cuescope_testing._model_contract.setting import (
    TOLERANCE,
    ModelSetting,
    are_units,
    distance,
    noise_under,
)

FRAMES = 4
FAR = 10_000  # no network is so deep
LOGIT_TIE = 1e-3


class ModelLooks(ModelSetting):
    """`HasPatches` and `EmbedsChoices`, of models that expose "patches" and "choices"."""

    @property
    def open_model(self) -> HasPatches:
        """The model; raises NotApplicable where it exposes no patches."""
        return cast(HasPatches, self.exposing("patches"))

    @property
    def comparing(self) -> EmbedsChoices:
        """The model; raises NotApplicable where it exposes no choices."""
        return cast(EmbedsChoices, self.exposing("choices"))

    @property
    def frames(self) -> list[Frame]:
        """A frame of each of a few samples."""
        return [sample.frames[0] for sample in self.samples[:FRAMES]]

    def test_shows_its_canvas(self) -> None:
        """Masks and noise are laid over the pixels that the network sees, resized and cropped."""
        canvases = self.open_model.canvas(self.frames)
        for canvas in canvases:
            fits = (
                canvas.dtype == np.uint8 and canvas.ndim == 3 and canvas.shape[2] == 3
            )
            expect(fits, "a canvas of uint8 (row, col, 3)", got=canvas.shape)
        # methods change a canvas and show it to the model again
        frames = [Frame.from_array(canvas) for canvas in canvases]
        again = self.open_model.canvas(frames)
        same = len(again) == len(self.frames) and all(
            map(np.array_equal, canvases, again)
        )
        expect(same, "the canvas of a canvas to be itself", got="other pixels")

    def test_gives_patch_features(self) -> None:
        """On one grid without class tokens, each frame by itself; layers beyond are refused."""
        model = self.open_model
        grids = set()
        # the last and the first, between which a network may merge tokens
        for layer in (-1, 0):
            together = model.patch_features(self.frames, layer)
            for frame, features in zip(self.frames, together, strict=True):
                fits = features.dtype == np.float32 and features.ndim == 3
                finite = np.isfinite(features).all()
                expect(fits and finite, "float32 (row, col, dim)", got=features.shape)
                grids.add(features.shape[:2])
                [alone] = model.patch_features([frame], layer)
                # features grow with depth, and rounding with them
                largest = float(np.abs(alone).max())
                far = TOLERANCE[self.dtype] * max(1.0, largest)
                expect(features.shape == alone.shape, "one grid", got=alone.shape)
                same = np.allclose(features, alone, rtol=0, atol=far)
                expect(same, "features as of the frame alone", got="others")
        expect(len(grids) == 1, "the same grid from every layer", got=sorted(grids))
        # from both ends: a negative index is an index in Python
        for layer in (FAR, -FAR):
            with expect_no_error(f"a UserError for layer {layer}"):
                model.patch_features(self.frames[:1], layer)

    def test_embeds_choices_as_unit_rows(self) -> None:
        """Rows that embeddings are compared with: logits are in the order of their cosines."""
        choices = self.samples[0].choices
        rows = np.asarray(self.comparing.embed_choices(choices))
        are_rows = are_units(rows, len(choices), 1e-3)
        expect(are_rows, "a unit row a choice", got=rows.shape)
        turned = np.asarray(self.comparing.embed_choices(choices[::-1]))
        same = np.allclose(rows, turned[::-1], atol=TOLERANCE[self.dtype])
        expect(same, "rows in the order of the choices", got="others")
        self.needs("logits")
        self.needs("embedding")
        # a tower of several frames may weigh texts by what is shown
        if getattr(getattr(self.comparing, "image_tower", None), "frames", 1) > 1:
            return
        for response in self.model.respond(self.trials()):
            logits = np.asarray(response.logits)
            cosines = rows @ np.asarray(response.embedding)
            # rounding may turn closer ones over
            tie = max(LOGIT_TIE, TOLERANCE[self.dtype]) * np.abs(logits).max()
            rises = np.diff(logits[np.argsort(cosines)])
            expect((rises >= -tie).all(), "logits in the order of cosines", got=logits)


# ------------------------------------------------------------------------------------------ hiding


SAMPLES = 3
Grid = tuple[int, int]
Mask = Bool[np.ndarray, "frame row col"]


class ModelHides(ModelLooks):
    """The edit "hide-tokens", on the model's own grid; hidden tokens are absent."""

    canvases: PerClass[list[Sample]] = PerClass(lambda contract: contract.on_canvas())

    @classmethod
    def on_canvas(cls) -> list[Sample]:
        """A few samples as the network sees them."""
        model = cast(HasPatches, cls.model.of(cls))
        seen = []
        for sample in cls.samples.of(cls)[:SAMPLES]:
            # on the canvas a patch of the mask is a patch of the network
            frames = map(Frame.from_array, model.canvas(sample.frames))
            seen.append(sample.with_frames(tuple(frames), "canvas"))
        return seen

    def own_grid(self) -> Grid:
        """Rows and columns of patches; raises NotApplicable where none can be seen or hidden."""
        if "hide-tokens" not in self.capabilities.edits:
            raise NotApplicable(
                "asks about hide-tokens, which this model does not declare"
            )
        rows, cols, _ = self.open_model.patch_features(self.canvases[0].frames[:1])[
            0
        ].shape
        return rows, cols

    def hiding(self, sample: Sample, mask: Mask | None = None) -> Trial:
        """The sample with what is under the mask hidden."""
        edit = None if mask is None else HideTokens.from_mask(mask)
        return Trial(sample=sample, edit=edit, outputs=self.capabilities.outputs)

    def test_is_blind_to_what_is_hidden(self) -> None:
        """Noise under hidden tokens changes nothing, and would without the edit."""
        masks = _half(self.own_grid(), self.canvases)
        noisy = list(map(_noisy, self.canvases, masks))
        hidden = self.model.respond(list(map(self.hiding, self.canvases, masks)))
        under_noise = self.model.respond(list(map(self.hiding, noisy, masks)))
        self.expect_near(hidden, under_noise, "the same answers whatever is hidden")
        plain = self.model.respond(list(map(self.hiding, self.canvases)))
        shown = self.model.respond(list(map(self.hiding, noisy)))
        expect(
            any(map(distance, plain, shown)),
            "the noise to show where nothing is hidden",
        )

    def test_hides_trial_by_trial(self) -> None:
        """Trials that hide nothing, one token, half and all go together as they go alone."""
        rows, cols = self.own_grid()
        every = rows * cols
        trials = []
        for sample in self.canvases:
            # unequal lengths are what padding has to carry
            for count in (0, 1, every // 2, every):
                of_frame = (np.arange(every) < count).reshape(1, rows, cols)
                mask = of_frame.repeat(len(sample.frames), axis=0)
                trials.append(self.hiding(sample, mask))
        self.expect_as_alone(
            trials, "each trial as by itself, whatever the others hide"
        )

    def test_takes_masks_in_pixels(self) -> None:
        """Map it with cuescope_sdk.models.tokens_under; a mask of other frames is refused."""
        grid = self.own_grid()
        masks = _half(grid, self.canvases)
        by_pixels = []
        by_token = []
        for sample, mask in zip(self.canvases, masks, strict=True):
            # twice as large as what the network sees, so that pixels are no tokens
            frames = list(map(_enlarge, sample.frames))
            larger = sample.with_frames(tuple(frames), "larger")
            pixels = list(map(_pixels_of, mask, frames))
            tokens = map(partial(tokens_under, self.open_model), frames, pixels)
            by_pixels.append(self.hiding(larger, np.stack(pixels)))
            by_token.append(self.hiding(larger, np.stack(list(tokens))))
        try:
            answers = self.model.respond(by_pixels)
        except UserError as refusal:
            raise ContractViolation("an answer", got=refusal) from refusal
        under_tokens = self.model.respond(by_token)
        self.expect_near(answers, under_tokens, "the same answers as under its tokens")
        # a frame more than the sample has
        more = np.concatenate([masks[0], masks[0][:1]])
        self.refuses(
            self.hiding(self.canvases[0], more), f"a mask of {len(more)} frames"
        )


def _half(grid: Grid, samples: list[Sample]) -> list[Mask]:
    """About half of the tokens, other ones in each frame; the first hidden, the last not."""
    # the same in each run, so that a failure comes again
    rng = generator(0, "hidden tokens")
    masks = []
    for sample in samples:
        mask = rng.random((len(sample.frames), *grid)) < 0.5
        # whatever is drawn, something is hidden and something is not
        mask[:, 0, 0] = True
        mask[:, -1, -1] = False
        masks.append(mask)
    return masks


def _enlarge(frame: Frame) -> Frame:
    pixels = np.asarray(frame.load())
    return Frame.from_array(pixels.repeat(2, axis=0).repeat(2, axis=1))


def _pixels_of(
    cells: Bool[np.ndarray, "row col"], frame: Frame
) -> Bool[np.ndarray, "height width"]:
    """A mask on a grid, in the pixels of a frame."""
    width, height = frame.load().size
    row = np.arange(height) * len(cells) // height
    col = np.arange(width) * cells.shape[1] // width
    return np.asarray(cells[row[:, None], col])


def _noisy(sample: Sample, mask: Mask) -> Sample:
    """The sample with noise under the mask."""
    rng = generator(0, "noise under a mask")
    frames = []
    for frame, hidden in zip(sample.frames, mask, strict=True):
        pixels = noise_under(np.asarray(frame.load()), hidden, rng)
        frames.append(Frame.from_array(pixels))
    return sample.with_frames(tuple(frames), "noisy")
