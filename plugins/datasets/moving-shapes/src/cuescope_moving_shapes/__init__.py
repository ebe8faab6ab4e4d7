"""The synthetic benchmark of TRoVe: moving discs with a planted static cue.

TRoVe section 4.1 and appendix A (Varma et al., 2025). Left open there and decided here: colours are
pure, edges are hard, speed is constant within a sequence, the classes are balanced, and see
`motion.trajectories` for positions and `cues.cue_error_rate` for the share of the cue.
"""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from cuescope_moving_shapes.acts import ActSequences, act
from cuescope_moving_shapes.cues import CUES, cramers_v, cue_counts
from cuescope_moving_shapes.drawing import DRAWING_VERSION, frame
from cuescope_moving_shapes.generator import Sequences, generate
from cuescope_moving_shapes.motion import DIRECTIONS, SOUTH
from cuescope_moving_shapes.questions import ANSWERS, asking, questions
from cuescope_sdk import Context, Options, Plugin, Sample, UserError, digest


class ShapesOptions(Options):
    """What to generate."""

    argument: ClassVar[str | None] = "cue"

    cue: Literal["background", "object", "attribute", "none"] = Field(
        "background", description="what goes with 'moving south'; none plants nothing"
    )
    length: Literal[2, 3, 5, 10] = Field(
        5, description="frames of a sequence, or of each action in it"
    )
    actions: int = Field(
        1, ge=1, le=len(DIRECTIONS) - 1,
        description="movements one after another, with rests; 2 or 3 are without label and cue",
    )  # fmt: skip
    cue_frames: int | None = Field(
        None, ge=1, description="contiguous frames that show the cue; three fifths if not given"
    )
    cramers_v: float = Field(
        0.9, gt=0, lt=1, description="association of the cue with 'moving south'"
    )
    questions: Literal["none", "text", "video", "both"] = Field(
        "none", description="ask for a direction; what the answer takes: words, video, both"
    )
    split: Literal["train", "val", "test"] = Field("val", description="which split to show")
    train: int = Field(2000, ge=4, description="sequences for training")
    val: int = Field(4000, ge=4, description="sequences for validation and audit")
    test: int = Field(2000, ge=4, description="sequences held out")
    seed: int = Field(0, ge=0, description="another seed, another draw")

    @property
    def size(self) -> int:
        """Sequences of the chosen split."""
        return {"train": self.train, "val": self.val, "test": self.test}[self.split]

    @property
    def window(self) -> int:
        """Frames that show the cue in a sequence that bears it."""
        return self.cue_frames or -(-3 * self.length // 5)

    @model_validator(mode="before")
    @classmethod
    def _no_cue_goes_with_several_actions(cls, given: Any) -> Any:
        several = isinstance(given, dict) and str(given.get("actions", 1)) != "1"
        return {"cue": "none", **given} if several else given

    @model_validator(mode="after")
    def _several_actions_stand_alone(self) -> Self:
        for option in ("cue", "questions"):
            if self.actions > 1 and getattr(self, option) != "none":
                raise UserError(
                    f"moving-shapes: {option}", expected=f"none with actions={self.actions}",
                    got=getattr(self, option),
                )  # fmt: skip
        return self

    @model_validator(mode="after")
    def _cue_fits(self) -> Self:
        if self.window > self.length:
            raise UserError(
                "moving-shapes: cue_frames",
                expected=f"at most length={self.length}",
                got=str(self.cue_frames),
            )
        return self


class MovingShapes(Plugin):
    """Sequences of a disc going north, south, east or west; a static cue goes with south.

    `cue_rates` is the realised P(cue | label), `cramers_v` the realised association (None where
    nothing is planted).
    """

    Options: ClassVar[type[Options]] = ShapesOptions
    labels: tuple[str, ...] = DIRECTIONS

    def __init__(self, options: ShapesOptions, context: Context) -> None:
        super().__init__(options, context)
        _check_size(options)
        self.options: ShapesOptions = options
        self.cue = CUES.get(options.cue)
        self.sequences = _sequences(options)
        if options.actions > 1:
            self.labels = ()
        bears, direction = self.sequences.bears, self.sequences.direction
        self.cue_rates = {
            label: float(bears[direction == index].mean())
            for index, label in enumerate(self.labels)
        }
        self.cramers_v = cramers_v(bears, direction == SOUTH) if self.cue else None
        self.fingerprint = digest(
            "moving-shapes", DRAWING_VERSION, options.split, self.cue,
            self.sequences.direction, self.sequences.parameters, self.sequences.cue,
        )  # fmt: skip
        self.questions = None
        if options.questions != "none":
            self.labels = ANSWERS
            self.questions = questions(
                options.questions, self.sequences.direction, options.split, options.seed
            )
            self.fingerprint = digest(self.fingerprint, self.questions)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data."""
        options = self.options
        length = self.sequences.parameters.shape[1]
        facts = {"sequences": f"{options.size} of {length} frames, split {options.split}"}
        if self.cramers_v is None:
            return facts | {"cue": "none"}
        other = self.sequences.bears[self.sequences.direction != SOUTH].mean()
        return facts | {
            "cue": f"{self.cue} in {options.window} of {options.length} frames of "
            f"{self.cue_rates[DIRECTIONS[SOUTH]]:.1%} of '{DIRECTIONS[SOUTH]}' and "
            f"{other:.1%} of the other sequences",
            "Cramer's V": f"{self.cramers_v:.3f} (asked {options.cramers_v:g})",
        }

    def __len__(self) -> int:
        return len(self.sequences.direction)

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        cues = {} if self.cue is None else {self.cue: tuple(self.sequences.cue[index].tolist())}
        sample = Sample(
            key=f"{self.options.split}-{index:05d}",
            frames=tuple(map(frame, self.sequences.parameters[index])),
            choices=DIRECTIONS,
            label=DIRECTIONS[self.sequences.direction[index]],
            annotations={"split": self.options.split, "cues": cues},
        )
        if isinstance(self.sequences, ActSequences):
            return self.sequences.acting(sample, index)
        return sample if self.questions is None else asking(sample, self.questions[index])

    def split(self, name: str) -> Self:
        """The same options on "train", "val" or "test"; no trajectory is in two of them."""
        return self.with_options(split=name)


def _sequences(options: ShapesOptions) -> Sequences:
    if options.actions > 1:
        return act(options.size, options.length, options.actions, options.split, options.seed)
    return generate(
        options.size,
        options.length,
        options.split,
        options.seed,
        options.cue,
        options.window,
        options.cramers_v,
    )


def _check_size(options: ShapesOptions) -> None:
    """Every class must show the cue at least once, or there is nothing to find."""
    if options.cue == "none":
        return
    south = len(range(SOUTH, options.size, len(DIRECTIONS)))
    others = len(DIRECTIONS) - 1
    bearing, lying = cue_counts(options.cramers_v, south, options.size - south)
    if lying < others or bearing == 0:
        raise UserError(
            f"moving-shapes: {options.split}={options.size} is too small for "
            f"cramers_v={options.cramers_v:g}",
            expected=f"a cue-bearing sequence in each of the {others} other classes",
            got=str(lying),
            remedy=f"Ask for more sequences (-D {options.split}=...) or a lower cramers_v.",
        )
