"""What a model cannot do is refused, and what it changes inside is changed."""

from typing import get_args

from cuescope_sdk import Output, Trial, UserError
from cuescope_sdk.testing._model_contract.comparing import EDITS, TOLERANCE, distance
from cuescope_sdk.testing._model_contract.setting import ModelSetting
from cuescope_sdk.testing._violation import ContractViolation, NotApplicable, expect

OUTPUTS: tuple[Output, ...] = get_args(Output)


class ModelLimits(ModelSetting):
    """Undeclared outputs and edits, numbers of frames, edits."""

    def test_refuses_outputs_it_has_not(self) -> None:
        """An output that is not declared is an error, not an empty answer."""
        others = [output for output in OUTPUTS if output not in self.capabilities.outputs]
        if not others:
            raise NotApplicable("asks about undeclared outputs, and all are declared")
        for output in others:
            self.refuses(Trial(sample=self.samples[0], outputs=frozenset({output})), output)

    def test_refuses_edits_it_has_not(self) -> None:
        """An edit that is ignored looks like a model that does not care."""
        others = [kind for kind in EDITS if kind not in self.capabilities.edits]
        if not others:
            raise NotApplicable("asks about undeclared edits, and all are declared")
        for kind in others:
            edit = EDITS[kind](self.samples[0], self.token_grid, True)
            self.refuses(self.trials(edit=edit)[0], f"the edit '{kind}'")

    def test_refuses_more_frames_than_it_takes(self) -> None:
        """Frames beyond `max_frames` must not be dropped in silence."""
        most = self.capabilities.max_frames
        if most is None:
            raise NotApplicable("asks about max_frames, and the model takes any number")
        sample = self.samples[0]
        long = sample.with_frames((sample.frames[0],) * (most + 1), "long")
        self.refuses(Trial(sample=long, outputs=self.capabilities.outputs), f"{most + 1} frames")

    def test_takes_or_refuses_clips_of_another_length(self) -> None:
        """A clip of one frame, or of one more, is answered or refused in words."""
        most = self.capabilities.max_frames
        for count in {1, 2, len(self.samples[0].frames) + 1}:
            if most is not None and count > most:
                continue
            sample = self.samples[0]
            shown = sample.with_frames((sample.frames[0],) * count, f"length-{count}")
            try:
                got = self.model.respond([Trial(sample=shown, outputs=self.capabilities.outputs)])
            except UserError:
                continue
            except Exception as error:
                raise ContractViolation(
                    f"an answer to {count} frames, or a UserError",
                    got=repr(error),
                    remedy="Check the number of frames, and raise UserError(...)",
                ) from error
            expect(len(got) == 1, "one response", got=len(got), remedy="Answer each trial")

    def test_leaves_an_empty_edit_without_effect(self) -> None:
        """An edited forward with nothing to edit is the plain forward."""
        self.needs_edits()
        plain = self.model.respond(self.trials())
        for kind in sorted(self.capabilities.edits):
            worst = max(map(distance, plain, self.edited(kind, whole=False)))
            expect(
                worst <= TOLERANCE[self.dtype],
                f"the plain answer under an empty '{kind}'",
                got=f"a difference of {worst:.2g}",
                remedy="Edit only what the edit names",
            )

    def test_carries_out_its_edits(self) -> None:
        """A declared edit changes answers."""
        self.needs_edits()
        plain = self.model.respond(self.trials())
        for kind in sorted(self.capabilities.edits):
            expect(
                max(map(distance, plain, self.edited(kind, whole=True))) > 0,
                f"other answers under '{kind}'",
                got="the plain ones",
                remedy="Carry the edit out, or do not declare it",
            )
