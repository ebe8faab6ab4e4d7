"""A model that is open to looks: its canvas, its patches; what it compares images with."""

from typing import cast

import numpy as np

from cuescope_sdk import EmbedsChoices, Frame, HasPatches, UserError
from cuescope_sdk.testing._contract import PerClass
from cuescope_sdk.testing._model_contract.comparing import TOLERANCE
from cuescope_sdk.testing._model_contract.setting import ModelSetting
from cuescope_sdk.testing._violation import ContractViolation, NotApplicable, expect

FRAMES = 4
FAR = 10_000  # no network is so deep
LOGIT_TIE = 1e-3  # relative; rounding may turn closer ones over


class ModelLooks(ModelSetting):
    """`HasPatches` and `EmbedsChoices`, of models that expose "patches" and "choices"."""

    @property
    def open_model(self) -> HasPatches:
        """The model; raises NotApplicable where it exposes no patches."""
        if "patches" not in self.capabilities.exposes:
            raise NotApplicable("asks about patches, which this model does not expose")
        return cast(HasPatches, self.model)

    @property
    def comparing(self) -> EmbedsChoices:
        """The model; raises NotApplicable where it exposes no choices."""
        if "choices" not in self.capabilities.exposes:
            raise NotApplicable("asks about embedded choices, which this model does not expose")
        return cast(EmbedsChoices, self.model)

    frames: PerClass[list[Frame]] = PerClass(lambda contract: contract.some_frames())

    @classmethod
    def some_frames(cls) -> list[Frame]:
        """A frame of each of a few samples."""
        return [sample.frames[0] for sample in cls.samples[:FRAMES]]

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
        again = self.open_model.canvas([Frame.from_array(canvas) for canvas in canvases])
        expect(
            len(canvases) == len(self.frames) and all(map(np.array_equal, canvases, again)),
            "the canvas of a canvas to be itself",
            got="other pixels",
            remedy="Give what the network sees: to resize and crop that once more changes nothing",
        )

    def test_gives_patch_features(self) -> None:
        """On one grid, whichever layer they are read from."""
        grids = set()
        for layer in (-1, 0):
            for found in self.open_model.patch_features(self.frames[:2], layer):
                whole = found.dtype == np.float32 and found.ndim == 3
                expect(
                    whole and bool(np.isfinite(found).all()),
                    "finite float32 patch features (row, col, dim)",
                    got=f"{found.dtype} of shape {found.shape}",
                    remedy="Leave class tokens, registers and padding out, and unflatten the rest",
                )
                grids.add(found.shape[:2])
        expect(
            len(grids) == 1,
            "the same grid from every layer",
            got=sorted(grids),
            remedy="Read the same tokens of each layer",
        )

    def test_refuses_layers_it_has_not(self) -> None:
        """A layer is an option of methods, and people miscount."""
        model = self.open_model
        for layer in (FAR, -FAR):
            try:
                model.patch_features(self.frames[:1], layer)
            except UserError:
                continue
            except Exception as error:
                raise ContractViolation(
                    f"a UserError for layer {layer}",
                    got=repr(error),
                    remedy="Raise UserError(problem, expected=...) with the layers that there are",
                ) from error

    def test_reads_each_frame_by_itself(self) -> None:
        """Patch features are cached frame by frame."""
        together = self.open_model.patch_features(self.frames)
        alone = [self.open_model.patch_features([frame])[0] for frame in self.frames]
        scale = max(1.0, *(float(np.abs(one).max()) for one in alone))
        same = len(together) == len(alone) and all(
            one.shape == other.shape and np.abs(one - other).max() <= TOLERANCE[self.dtype] * scale
            for one, other in zip(together, alone, strict=False)
        )
        expect(
            same,
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
            rows.ndim == 2
            and len(rows) == len(choices)
            and bool(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3))
            and bool(np.allclose(rows, turned, atol=TOLERANCE[self.dtype])),
            "a unit row a choice, in order",
            got=f"shape {rows.shape}",
            remedy="Normalise the text embeddings and keep their order",
        )

    def test_orders_logits_as_cosines(self) -> None:
        """Explainers ask for the cosine with a choice in place of its logit."""
        self.needs("logits")
        self.needs("embedding")
        if getattr(getattr(self.comparing, "image_tower", None), "frames", 1) > 1:
            raise NotApplicable("asks about texts that do not depend on what is shown")
        rows = self.comparing.embed_choices(self.samples[0].choices)
        trials = self.trials(outputs=frozenset(("logits", "embedding")))
        for response in self.model.respond(trials):
            logits, cosines = np.asarray(response.logits), rows @ np.asarray(response.embedding)
            tie = max(LOGIT_TIE, TOLERANCE[self.dtype]) * np.abs(logits).max()
            expect(
                bool((np.diff(logits[np.argsort(cosines)]) >= -tie).all()),
                "logits in the order of the cosines with `embed_choices`",
                got=f"{logits} for {cosines}",
                remedy="Give the rows that image embeddings are compared with",
            )
