"""The synthetic benchmark of TRoVe: moving discs with a planted static cue.

TRoVe section 4.1 and appendix A (Varma et al., 2025). Left open there and decided here: colours are
pure, edges are hard, speed is constant within a sequence, the classes are balanced, and see
`motion.trajectories` for positions and `cues.cue_error_rate` for the share of the cue.
"""

from typing import Self

from cuescope_moving_shapes.cues import CUES, cramers_v, cue_counts
from cuescope_moving_shapes.motion import DIRECTIONS, SOUTH
from cuescope_moving_shapes.options import ShapesOptions
from cuescope_moving_shapes.pictures import DRAWING_VERSION, disc_box, frame
from cuescope_moving_shapes.questions import ANSWERS, draw_questions, with_question
from cuescope_moving_shapes.sequences import ActionSequences, generate, generate_actions
from cuescope_sdk import Context, PlantedCue, Plugin, Sample, UserError, digest


class MovingShapes(Plugin):
    """Sequences of a disc going north, south, east or west; a static cue goes with south.

    `cue_rates` is the realised P(cue | label), `cramers_v` the realised association (None where
    nothing is planted). Every sequence is drawn by itself, and is a group of its own.
    """

    Options = ShapesOptions
    options: ShapesOptions
    labels: tuple[str, ...] = DIRECTIONS

    def __init__(self, options: ShapesOptions, context: Context) -> None:
        super().__init__(options, context)
        _check_size(options)
        self.cue = CUES.get(options.cue)
        if options.actions == 1:
            self.sequences = generate(options)
        else:
            self.sequences = generate_actions(options)
            # two movements have no one label
            self.labels = ()
        bears = self.sequences.bears
        direction = self.sequences.direction
        self.cue_rates: dict[str, float] = {}
        for index, label in enumerate(self.labels):
            of_label = bears[direction == index]
            self.cue_rates[label] = float(of_label.mean())
        self.cramers_v = cramers_v(bears, direction == SOUTH) if self.cue else None
        self.fingerprint = digest(
            "moving-shapes",
            DRAWING_VERSION,
            options.split,
            self.cue,
            direction,
            self.sequences.parameters,
            self.sequences.cue,
        )
        self.questions = None
        if options.questions != "none":
            self.labels = ANSWERS
            self.questions = draw_questions(options, direction)
            self.fingerprint = digest(self.fingerprint, self.questions)

    @property
    def planted_cues(self) -> tuple[PlantedCue, ...]:
        """The cue; only an answer that the video alone decides is given away by it."""
        if self.cue is None:
            return ()
        south = {"none": DIRECTIONS[SOUTH], "video": ANSWERS[SOUTH]}
        label = south.get(self.options.questions)
        labels = (label,) if label else ()
        return (PlantedCue(key=self.cue, name=self.cue, labels=labels),)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data."""
        options = self.options
        length = self.sequences.parameters.shape[1]
        facts = {
            "sequences": f"{options.size} of {length} frames, split {options.split}"
        }
        if self.cramers_v is None:
            return facts | {"cue": "none"}
        south = DIRECTIONS[SOUTH]
        others = self.sequences.direction != SOUTH
        other = self.sequences.bears[others].mean()
        return facts | {
            "cue": f"{self.cue} in {options.window} of {options.length} frames of "
            f"{self.cue_rates[south]:.1%} of '{south}' and {other:.1%} of the other sequences",
            "Cramer's V": f"{self.cramers_v:.3f} (asked {options.cramers_v:g})",
        }

    def __len__(self) -> int:
        return len(self.sequences.direction)

    def __getitem__(self, index: int) -> Sample:
        # raises IndexError beyond the end, and counts -1 from it, as a list does
        index = range(len(self))[index]
        cues = {}
        if self.cue is not None:
            cues[self.cue] = tuple(self.sequences.cue[index].tolist())
        key = f"{self.options.split}-{index:05d}"
        sample = Sample(
            key=key,
            group=key,
            frames=tuple(map(frame, self.sequences.parameters[index])),
            choices=DIRECTIONS,
            label=DIRECTIONS[self.sequences.direction[index]],
            annotations={
                "split": self.options.split,
                "cues": cues,
                "boxes": (disc_box(self.sequences.parameters[index]),),
            },
        )
        if isinstance(self.sequences, ActionSequences):
            return self.sequences.with_actions(sample, index)
        if self.questions is None:
            return sample
        return with_question(sample, self.questions[index])

    def split(self, name: str) -> Self:
        """The same options on "train", "val" or "test"; no trajectory is in two of them."""
        return self.with_options(split=name)


def _check_size(options: ShapesOptions) -> None:
    """Every class must show the cue at least once, or there is nothing to find."""
    if options.cue == "none":
        return
    # directions are dealt in turn, so that this many go south
    south = len(range(SOUTH, options.size, len(DIRECTIONS)))
    others = len(DIRECTIONS) - 1
    bearing, lying = cue_counts(options.cramers_v, south, options.size - south)
    if lying < others or bearing == 0:
        raise UserError(
            f"moving-shapes: {options.split}={options.size} is too small for "
            f"cramers_v={options.cramers_v:g}",
            expected=f"a cue-bearing sequence in each of the {others} other classes",
            got=str(lying),
            remedy=f"Ask for more sequences (-O data.{options.split}=...) or a lower cramers_v.",
        )
