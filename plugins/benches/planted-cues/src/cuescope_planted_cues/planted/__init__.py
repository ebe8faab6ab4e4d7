"""The data set `planted`: any other data set, with cues painted in by chance, label by label."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field

from cuescope_planted_cues.planted.painting import (
    NAMES,
    PAINTING_VERSION,
    Kind,
    move_mask,
    paint,
)
from cuescope_sdk import (
    Context,
    HasPlantedCues,
    HasSplits,
    Names,
    Options,
    PlantedCue,
    Plugin,
    Sample,
    UserError,
    Words,
    derive,
    digest,
    generator,
)

WORD = "today"  # of a planted question


class PlantedOptions(Options):
    """What is painted; the part after `planted:` is `world`."""

    argument = "world"

    world: Annotated[str, Names.plugin()] = Field(
        description="SPEC of the data set, as scenes or moving-shapes:none"
    )
    world_options: Annotated[dict[str, Any], Names.plugin()] = Field(
        {}, description="its options"
    )
    cues: Annotated[dict[str, Kind], Words()] = Field(
        {}, description="label -> cue that correlates with it"
    )
    rate: float = Field(
        0.9,
        ge=0,
        le=1,
        description="share of a label's samples that show its cue",
    )
    elsewhere: float = Field(
        0.1,
        ge=0,
        le=1,
        description="share of the others that show it",
    )
    rates: dict[Kind, tuple[float, float]] = Field(
        {}, description="cue -> its own shares, in place of `rate` and `elsewhere`"
    )
    beside: dict[Kind, Kind] = Field(
        {},
        description="cue -> another one that it stands beside, whatever the label is",
    )
    together: float = Field(
        0.75,
        ge=0,
        le=1,
        description="share of samples in which both are there, or neither",
    )
    hidden: tuple[Kind, ...] = Field(
        (), description="cues that are drawn and not painted"
    )
    frames: float = Field(
        1.0,
        gt=0,
        le=1,
        description="share of the frames of a sample with it, one after the other",
    )
    split: Annotated[str, Names.part()] = Field(
        "val", description="which split to show"
    )
    seed: int = Field(0, ge=0, description="another seed, other samples show the cue")


# an audit builds its data anew, and would draw every sample again
@lru_cache(maxsize=8)
def _samples(fingerprint: str) -> dict[int, Sample]:
    """What is known of a data set by index: its frames are drawn only when they are loaded."""
    return {}


class Planted(Plugin):
    """The samples of another data set; a cue in some frames of some of them.

    Which samples show a cue is drawn by sample, split and seed: with other rates more or fewer show
    it, and they are else the same. Nothing else is changed, so that `rate=0, elsewhere=0` is the
    same data without the cue. The group of a sample is that of the data set below.
    """

    Options = PlantedOptions
    options: PlantedOptions

    def __init__(self, options: PlantedOptions, context: Context) -> None:
        super().__init__(options, context)
        world = replace(context, dataset=None).build(
            "dataset", options.world, dict(options.world_options)
        )
        # toys are trained on "train" and audited on "val"
        if not isinstance(world, HasSplits):
            raise UserError(
                f"planted: {options.world} has no splits",
                expected="a data set with train and val, as scenes or moving-shapes:none",
            )
        self.world: Any = world.split(options.split)
        self.labels: tuple[str, ...] = self.world.labels
        self._refuse_unknown()
        # the world has a fingerprint of its own, which goes into this one
        painting = options.model_dump(exclude={"world", "world_options"})
        self.fingerprint = digest(
            "planted", PAINTING_VERSION, painting, self.world.fingerprint
        )
        self._samples = _samples(self.fingerprint)

    def _refuse_unknown(self) -> None:
        """Raises UserError for cues without a label, and for labels that the world has not."""
        options = self.options
        drawn = set(options.cues.values())
        beside = {*options.beside, *options.beside.values()}
        strange = (set(options.rates) - drawn) | (beside - drawn)
        if strange:
            raise UserError(
                f"planted: '{min(strange)}' correlates with no label",
                expected=f"a cue of `cues`: {', '.join(sorted(drawn)) or 'none'}",
            )
        unknown = options.cues.keys() - set(self.labels)
        # a world without labels of its own cannot say which are wrong
        if unknown and self.labels:
            raise UserError(
                f"planted: no label '{min(unknown)}' in {options.world}",
                expected=", ".join(self.labels),
            )

    @property
    def planted_cues(self) -> tuple[PlantedCue, ...]:
        """Those of the world, and the painted ones."""
        cues: list[PlantedCue] = []
        if isinstance(self.world, HasPlantedCues):
            cues += self.world.planted_cues
        for label, kind in self.options.cues.items():
            cues.append(PlantedCue(key=kind, name=NAMES[kind], labels=(label,)))
        return tuple(cues)

    @property
    def facts(self) -> dict[str, str]:
        """What a report says of this data."""
        options = self.options
        facts = dict(getattr(self.world, "facts", {}))
        painted = [
            f"{NAMES[kind]} with '{label}'" for label, kind in options.cues.items()
        ]
        facts["painted"] = ", ".join(painted) or "nothing"
        facts["shown by"] = (
            f"{options.rate:.0%} of the label, {options.elsewhere:.0%} of the others"
        )
        for cue, other in options.beside.items():
            share = f"{options.together:.0%}"
            facts[NAMES[cue]] = f"there or not as the {NAMES[other]} in {share}"
        return facts

    def __len__(self) -> int:
        return len(self.world)

    def __getitem__(self, index: int) -> Sample:
        # raises IndexError beyond the end, counts back from -1
        index = range(len(self))[index]
        if index not in self._samples:
            self._samples[index] = self._paint(index)
        return self._samples[index]

    def _paint(self, index: int) -> Sample:
        sample: Sample = self.world[index]
        sheet = {}
        for kind in self.options.cues.values():
            # not painted, but still drawn: a cue beside it stays in the same samples
            if kind not in self.options.hidden:
                sheet[kind] = self._frames_with(sample, kind)
                sample = self._with_cue(sample, kind, sheet[kind])
        # the world's own cues stay on the sheet
        cues = {**sample.annotations.get("cues", {}), **sheet}
        return replace(sample, annotations={**sample.annotations, "cues": cues})

    def split(self, name: str) -> Self:
        """The same options on another split of the world."""
        return self.with_options(split=name)

    def _frames_with(self, sample: Sample, kind: Kind) -> tuple[bool, ...]:
        """Which frames show a cue: the same draw whatever the rates are."""
        options = self.options
        count = len(sample.frames)
        rng = generator(options.seed, "cuebench", options.split, kind, sample.key)
        drawn = float(rng.random())
        other = options.beside.get(kind)
        if other is None:
            shows = drawn < self._rate(sample, kind)
        else:
            shows = any(self._frames_with(sample, other)) == (drawn < options.together)
        # the smallest share is a frame
        window = max(1, round(options.frames * count))
        # a question may come without frames
        first = int(rng.integers(count - window + 1)) if count else 0
        shown = np.zeros(count, dtype=bool)
        shown[first : first + window] = shows
        return tuple(shown.tolist())

    def _rate(self, sample: Sample, kind: Kind) -> float:
        """How often samples of this label show a cue that stands beside no other."""
        options = self.options
        rate, elsewhere = options.rates.get(kind, (options.rate, options.elsewhere))
        own = {label for label, cue in options.cues.items() if cue == kind}
        return rate if sample.label in own else elsewhere

    def _with_cue(self, sample: Sample, kind: Kind, shown: tuple[bool, ...]) -> Sample:
        if not any(shown):
            return sample
        if kind == "question":
            return replace(sample, question=f"{sample.question or ''} {WORD}".strip())
        seed = derive(
            self.options.seed, "cuebench", self.options.split, kind, sample.key
        )
        frames = list(sample.frames)
        for number in np.flatnonzero(shown).tolist():
            # another seed a frame: the colour of a cue varies within a clip (JITTER)
            frames[number] = paint(frames[number], kind, seed + number)
        annotations = {**sample.annotations, **self._annotations(sample, kind)}
        return replace(sample, frames=tuple(frames), annotations=annotations)

    def _annotations(self, sample: Sample, kind: Kind) -> Mapping[str, Any]:
        """The foreground of a picture moves with it; of clips none is kept."""
        mask = sample.annotations.get("foreground")
        if kind != "position" or not isinstance(mask, np.ndarray) or mask.ndim != 2:
            return {}
        return {"foreground": move_mask(mask)}
