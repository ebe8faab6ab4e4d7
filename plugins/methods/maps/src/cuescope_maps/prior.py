"""How probable an answer is without its picture, and with another one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cuescope_maps.options import MapsOptions
from cuescope_maps.trials import Target, find_targets
from cuescope_sdk import Audit, Frame, Outcome, Sample, Trial
from cuescope_sdk.statistics import Groups, change_interval

NONE = "no picture"
OTHER = "another picture"
GREY = 128  # as far from black as from white


@dataclass(eq=False)
class Prior:
    """An answer, or a word of one, in some samples: log-probability in each of three pictures."""

    name: str
    right: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)
    none: list[float] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)

    def means(self) -> tuple[float, float, float]:
        """Mean probabilities with the picture, another one, and none."""
        right, other, none = (
            float(np.exp(logs).mean()) for logs in (self.right, self.other, self.none)
        )
        return right, other, none

    def needs_no_picture(self, margin: float) -> bool:
        """True if the picture surely raises the probability by less than a margin."""
        raised = np.exp(self.right) - np.exp(self.none)
        _, high = change_interval(raised, Groups.of(self.samples), bound=None)
        return high is not None and high < margin


def prior_trials(audit: Audit, options: MapsOptions) -> list[tuple[Target, str, Trial]]:
    """Each answer as it is, without a picture and with another one; for `audit.once`."""
    targets = [target for target, _ in audit.once(find_targets, audit, options)]
    rng = audit.rng("other pictures")
    asked = []
    for target in targets:
        own = target.sample
        asked.append((target, "baseline", Trial(sample=own)))
        blank = _without_picture(own, audit.capabilities.min_frames)
        asked.append((target, NONE, Trial(sample=blank, condition=NONE)))
        others = [
            other.sample
            for other in targets
            if (other.sample.group or other.sample.key) != (own.group or own.key)
        ]
        # of one group there is no other picture: its own stands there
        other = others[int(rng.integers(len(others)))] if others else own
        shown = own.with_frames(other.frames, f"with-frames-of-{other.key}")
        asked.append((target, OTHER, Trial(sample=shown, condition=OTHER)))
    return [(target, name, target.trial(trial)) for target, name, trial in asked]


def _without_picture(sample: Sample, fewest: int) -> Sample:
    if fewest == 0 and sample.question:
        return sample.with_frames((), "no-picture")
    grey = []
    for frame in sample.frames:
        width, height = frame.load().size
        pixels = np.full((height, width, 3), GREY, dtype=np.uint8)
        grey.append(Frame.from_array(pixels))
    return sample.with_frames(tuple(grey), "no-picture")


def priors(
    asked: Sequence[tuple[Target, str, Trial]], outcomes: Sequence[Outcome]
) -> list[Prior]:
    """Of each answer, and of each word where words have probabilities; the commonest first."""
    rows: dict[str, Prior] = {}
    for (target, name, _), outcome in zip(asked, outcomes, strict=True):
        for words, log in _logs(target, outcome):
            row = rows.setdefault(words, Prior(words))
            side = {"baseline": row.right, NONE: row.none, OTHER: row.other}[name]
            side.append(log)
            if name == "baseline":
                row.samples.append(target.sample)
    return sorted(rows.values(), key=lambda row: (-len(row.right), row.name))


def _logs(target: Target, outcome: Outcome) -> Iterator[tuple[str, float]]:
    if not target.words:
        # a text that is not written again has no probability: the smallest number stands there
        value = max(target.probability(outcome), 1e-9)
        yield target.answer, float(np.log(value))
        return
    for word, log in zip(target.words, outcome.response.readout, strict=True):  # type: ignore[arg-type]
        yield word.strip(".,;:!?\"'").lower() or word, float(log)


def sentence(rows: Sequence[Prior], margin: float) -> str:
    """How much of the answers stands without the picture, in words."""
    everything = Prior("")
    for row in rows:
        everything.right += row.right
        everything.other += row.other
        everything.none += row.none
    right, other, none = everything.means()
    told = (
        f"probability {right:.2f} with the picture, {other:.2f} with another one, {none:.2f} "
        "without"
    )
    free = [f"'{row.name}'" for row in rows if row.needs_no_picture(margin)]
    return f"{told}; no picture needed for {', '.join(free)}" if free else told
