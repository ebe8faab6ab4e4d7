"""Contract of `HideTokens` on models that show their patches."""

from contextlib import suppress
from typing import cast

import numpy as np
from jaxtyping import Bool

from cuescope_core.capabilities import EmbedsChoices, HasPatches
from cuescope_sdk import Frame, HideTokens, Sample, Trial, UserError, generator
from cuescope_sdk.models import tokens_under
from cuescope_testing._contract import NotApplicable, PerClass, expect, expect_no_error
from cuescope_testing._model_contract.setting import (
    TOLERANCE,
    ModelSetting,
    are_units,
    distance,
    noise_under,
)

FRAMES = 4
FAR = 10_000  # no network is so deep
LOGIT_TIE = 1e-3  # relative; rounding may turn closer ones over


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
        """Masks, maps and noise are laid over the pixels that the network sees."""
        canvases = self.open_model.canvas(self.frames)
        for canvas in canvases:
            expect(
                canvas.dtype == np.uint8 and canvas.ndim == 3 and canvas.shape[2] == 3,
                "a canvas of uint8 (row, col, 3)",
                got=f"{canvas.dtype} of shape {canvas.shape}",
                remedy="Give the resized and cropped pixels, before they are normalised",
            )
        # methods change a canvas and show it to the model again
        again = self.open_model.canvas(
            [Frame.from_array(canvas) for canvas in canvases]
        )
        expect(
            len(canvases) == len(self.frames)
            and all(map(np.array_equal, canvases, again)),
            "the canvas of a canvas to be itself",
            got="other pixels",
            remedy="Give what the network sees: to resize and crop that once more changes nothing",
        )

    def test_gives_patch_features(self) -> None:
        """On one grid, whichever layer they are read from."""
        grids = set()
        # the last and the first, between which a network may merge tokens
        for layer in (-1, 0):
            for features in self.open_model.patch_features(self.frames[:2], layer):
                expect(
                    features.dtype == np.float32
                    and features.ndim == 3
                    and np.isfinite(features).all(),
                    "finite float32 patch features (row, col, dim)",
                    got=f"{features.dtype} of shape {features.shape}",
                    remedy="Leave class tokens, registers and padding out, and unflatten the rest",
                )
                grids.add(features.shape[:2])
        expect(
            len(grids) == 1,
            "the same grid from every layer",
            got=sorted(grids),
            remedy="Read the same tokens of each layer",
        )

    def test_refuses_layers_it_has_not(self) -> None:
        """A layer is an option of methods, and people miscount."""
        model = self.open_model
        # from both ends: a negative index is an index in Python
        for layer in (FAR, -FAR):
            with (
                expect_no_error(
                    f"a UserError for layer {layer}",
                    remedy="Raise UserError(problem, expected=...) with the layers that there are",
                ),
                suppress(UserError),
            ):
                model.patch_features(self.frames[:1], layer)

    def test_reads_each_frame_by_itself(self) -> None:
        """Patch features are cached frame by frame."""
        together = self.open_model.patch_features(self.frames)
        alone = [self.open_model.patch_features([frame])[0] for frame in self.frames]
        # features grow with depth, and rounding with them
        scale = max(1.0, *(float(np.abs(features).max()) for features in alone))
        tolerance = TOLERANCE[self.dtype] * scale

        def is_same(features: np.ndarray, other: np.ndarray) -> bool:
            if features.shape != other.shape:
                return False
            return bool(np.abs(features - other).max() <= tolerance)

        expect(
            len(together) == len(alone) and all(map(is_same, together, alone)),
            "the same patch features whatever other frames are asked about",
            got="others",
            remedy="Encode and normalise each frame by itself, and keep their order",
        )

    def test_embeds_choices_as_unit_rows(self) -> None:
        """Rows of length 1, in the order of the choices."""
        choices = self.samples[0].choices
        rows = np.asarray(self.comparing.embed_choices(choices))
        turned = np.asarray(self.comparing.embed_choices(choices[::-1]))[::-1]
        expect(
            are_units(rows, len(choices), 1e-3)
            and np.allclose(rows, turned, atol=TOLERANCE[self.dtype]),
            "a unit row a choice, in order",
            got=f"shape {rows.shape}",
            remedy="Normalise the text embeddings and keep their order",
        )

    def test_orders_logits_as_cosines(self) -> None:
        """Explainers ask for the cosine with a choice in place of its logit."""
        self.needs("logits")
        self.needs("embedding")
        # a tower of several frames may weigh texts by what is shown
        if getattr(getattr(self.comparing, "image_tower", None), "frames", 1) > 1:
            raise NotApplicable("asks about texts that do not depend on what is shown")
        rows = self.comparing.embed_choices(self.samples[0].choices)
        trials = self.trials(outputs=frozenset(("logits", "embedding")))
        for response in self.model.respond(trials):
            logits = np.asarray(response.logits)
            cosines = rows @ np.asarray(response.embedding)
            tie = max(LOGIT_TIE, TOLERANCE[self.dtype]) * np.abs(logits).max()
            # by the order of cosines, logits must never fall, but for ties
            rises = np.diff(logits[np.argsort(cosines)])
            expect(
                (rises >= -tie).all(),
                "logits in the order of the cosines with `embed_choices`",
                got=f"{logits} for {cosines}",
                remedy="Give the rows that image embeddings are compared with",
            )


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

    def test_answers_with_all_hidden(self) -> None:
        """Where nothing is left to see there is still an answer, in finite numbers."""
        grid = self.own_grid()
        trials = [
            self.hiding(s, np.ones((len(s.frames), *grid), bool)) for s in self.canvases
        ]
        with expect_no_error(
            "an answer with every token hidden",
            remedy="Answer from what is left, or embed nothing as zeros; no mean of nothing",
        ):
            self.model.respond(trials)

    def test_is_blind_to_what_is_hidden(self) -> None:
        """Noise under hidden tokens changes nothing, and would without the edit."""
        masks = _half(self.own_grid(), self.canvases)
        noisy = list(map(_noisy, self.canvases, masks))
        self.expect_near(
            self.model.respond(list(map(self.hiding, self.canvases, masks))),
            self.model.respond(list(map(self.hiding, noisy, masks))),
            "answers blind to what is under hidden tokens",
            "Keep hidden tokens out of every layer and of the pooling",
        )
        plain = self.model.respond(list(map(self.hiding, self.canvases)))
        expect(
            any(
                map(distance, plain, self.model.respond(list(map(self.hiding, noisy))))
            ),
            "the noise to show where nothing is hidden",
            got="no difference",
            remedy="Check that `canvas` gives the pixels that the network sees",
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
            trials,
            "each trial answered as by itself, however many tokens the others hide",
            "Pad to the longest of a batch, and mask what is padded",
        )

    def test_takes_masks_in_pixels(self) -> None:
        """A mask in the frame's own pixels hides what the tokens under it hide."""
        grid = self.own_grid()
        masks = _half(grid, self.canvases)
        by_pixels = []
        by_token = []
        for sample, mask in zip(self.canvases, masks, strict=True):
            # twice as large as what the network sees, so that pixels are no tokens
            frames = list(map(_enlarge, sample.frames))
            larger = sample.with_frames(tuple(frames), "larger")
            pixels = [
                _pixels_of(cells, frame)
                for cells, frame in zip(mask, frames, strict=True)
            ]
            tokens = [
                tokens_under(self.open_model, frame, of_frame)
                for frame, of_frame in zip(frames, pixels, strict=True)
            ]
            by_pixels.append(self.hiding(larger, np.stack(pixels)))
            by_token.append(self.hiding(larger, np.stack(tokens)))
        remedy = (
            "Map it with cuescope_sdk.models.tokens_under, or stretch it over the frame"
        )
        with expect_no_error(
            "an answer under a mask in the frame's pixels", remedy=remedy
        ):
            answers = self.model.respond(by_pixels)
        self.expect_near(
            answers,
            self.model.respond(by_token),
            "the same answers under a mask in pixels and under its tokens",
            remedy,
        )

    def test_refuses_masks_of_another_shape(self) -> None:
        """A mask for other frames is refused; one of another grid too, or stretched over them."""
        grid = self.own_grid()
        sample = self.canvases[0]
        [mask] = _half(grid, [sample])
        # a frame more than the sample has
        more = np.concatenate([mask, mask[:1]])
        self.refuses(self.hiding(sample, more), f"a mask of {len(more)} frames")
        # each cell cut in four: the same mask, if it is stretched
        finer = self.hiding(sample, mask.repeat(2, axis=1).repeat(2, axis=2))
        try:
            [stretched] = self.model.respond([finer])
        # to refuse another grid is right as well
        except UserError:
            return
        [own] = self.model.respond([self.hiding(sample, mask)])
        expect(
            self.alike(stretched, own),
            "a UserError, or the answer under the same mask on its grid",
            got="another one under a mask of twice the rows and columns",
            remedy="Raise UserError(...), or stretch the mask over the frame",
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
