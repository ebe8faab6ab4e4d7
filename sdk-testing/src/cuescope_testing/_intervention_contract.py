"""Contract of interventions: it changes a sample where it is told to, and only there."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Bool

from cuescope_core.capabilities import Capabilities
from cuescope_core.digest import digest
from cuescope_sdk import Sample, Trial, generator
from cuescope_sdk.interventions import Case, Place
from cuescope_testing._contract import ShownContract, expect, same_pixels, with_sample
from cuescope_testing._fake_data import CUE, CUE_BOX, SIDE
from cuescope_testing._fake_tools import FakeImageEditor

QUESTION = "Where does the red corner move to?"
OTHER_QUESTION = "Which corner is it in?"
SPAN = ((14, 24),)
OTHER_SPAN = ((6, 10),)


class InterventionContract(ShownContract):
    """Checks of an intervention on samples with a red corner; no model is asked."""

    kind = "intervention"
    count: ClassVar[int] = 24
    data_options: ClassVar[dict[str, Any]] = {"scale": 4}

    def exercise(self) -> None:
        """Build it, and use it once."""
        self.trials(self.cases)

    @property
    def tools(self) -> dict[str, Any]:
        """The tools that it may need."""
        return {
            "image-editor": FakeImageEditor(FakeImageEditor.Options(), self.context())
        }

    @property
    def modality(self) -> Literal["video", "text"]:
        """Modality that carries the cue, where it is all of one."""
        # the text as a modality is what "question" asks for
        return "text" if self.plugin.needs == "question" else "video"

    @property
    def cases(self) -> list[Case]:
        """Samples with the red corner, or without it for what inserts it, each with a donor."""
        takers = [s for s in self.samples if any(s.annotations["cues"][CUE])]
        donors = [s for s in self.samples if not any(s.annotations["cues"][CUE])]
        # what works on frames takes those that show it, whether it removes or inserts
        if self.plugin.effect != "removes" and self.plugin.needs != "frames":
            takers, donors = donors, takers
        if self.plugin.needs == "still":
            # unlike in motion too: every second donor stands still
            donors[::2] = [donor.static(0) for donor in donors[::2]]
        cases = []
        # four: each check intervenes on all of them, some twice
        for number, (taker, donor) in enumerate(zip(takers[:4], donors, strict=False)):
            case = Case(
                sample=replace(taker, question=QUESTION),
                place=self.place_in(taker),
                donor=replace(donor, question=OTHER_QUESTION),
                # a word that the fake editor does not know: it paints all that lies under the mask
                word="marked thing",
                seed=number,
                shift=generator(number, "contract shift").normal(size=4),
            )
            cases.append(case)
        return cases

    def place_in(self, sample: Sample) -> Place:
        """Where the cue is; of what needs no region, all of the frames that show it."""
        place = replace(place_in(sample), modality=self.modality)
        if self.plugin.needs != "still":
            return place
        sizes = [mask.shape for mask in place.masks]
        shown = range(len(sizes) - 1)
        return replace(place, masks=Place.whole(sizes, shown).masks)

    @property
    def placebos(self) -> list[Case]:
        """The same cases at a place of equal size that is not the cue's, or with another donor."""
        if self.plugin.needs == "still":
            donors = [case.donor for case in self.cases]
            # in turns: each has the donor of the next one
            return [
                replace(case, donor=donor)
                for case, donor in zip(
                    self.cases, (*donors[1:], donors[0]), strict=True
                )
            ]
        moved = []
        for case in self.cases:
            rng = generator(case.seed, "contract placebo")
            # without an object: no annotation may matter here
            region = case.place.elsewhere((), rng)
            frames = Place(frames=(1,)).other_frames(len(case.sample.frames), rng)
            if region is None or frames is None:
                raise ValueError(
                    "a red corner of three by three cells leaves room for a placebo"
                )
            place = Place(
                masks=region.masks,
                frames=frames.frames,
                spans=OTHER_SPAN,
                modality=case.place.modality,
            )
            moved.append(replace(case, place=place, word="other thing"))
        return moved

    def trials(self, cases: Sequence[Case]) -> list[Trial]:
        """Trials that it makes of the cases."""
        return list(self.build().intervene(cases, self.tools))

    def pairs(self, cases: Sequence[Case]) -> list[tuple[Case, Trial]]:
        """Cases with their trials."""
        return list(zip(cases, self.trials(cases), strict=True))

    def expect_same(self, others: Sequence[Case], expected: str) -> None:
        """Raise ContractViolation unless these cases give the trials of the contract's own."""
        given = zip(self.trials(self.cases), self.trials(others), strict=True)
        expect(all(content(one) == content(other) for one, other in given), expected)

    def test_says_what_it_is(self) -> None:
        """A report names each witness: set title and needs; a reason of `why_not` is one line."""
        title = getattr(self.plugin, "title", "")
        needs = getattr(self.plugin, "needs", None)
        expect(title and isinstance(needs, str), "a title in words, and `needs`")
        # a cue of which nothing is known, and a model that takes no edit and has no tools
        reason = self.plugin.why_not(frozenset(), Capabilities(outputs=frozenset()), ())
        is_line = isinstance(reason, str) and reason.strip() and "\n" not in reason
        expect(is_line, "a reason in one line", got=repr(reason))

    def test_answers_each_case_in_order(self) -> None:
        """A trial a case, of the case's own sample: `sample.with_frames` keeps the rest."""
        # turned, alone and none: what looks at its neighbours gives itself away
        turned = self.cases[::-1]
        alone = self.cases[:1]
        for cases in (self.cases, turned, alone, []):
            trials = self.trials(cases)
            expect(len(trials) == len(cases), "a trial a case", got=len(trials))
            own = all(map(_is_of, trials, cases))
            expect(own, "trials of the cases' own samples, in order")

    def test_changes_what_the_model_sees(self) -> None:
        """An intervention that leaves all as it is would call every cue harmless."""
        unchanged = [
            case.sample.key
            for case, trial in self.pairs(self.cases)
            if content(trial) == content(Trial(sample=case.sample))
        ]
        # a sample may have a property of the still as its donor has it
        most = len(self.cases) - 1 if self.plugin.needs == "still" else 0
        expect(len(unchanged) <= most, "changed samples", got=f"{unchanged} as before")

    def test_keeps_what_lies_outside_of_the_place(self) -> None:
        """Pixels outside of the masks are the sample's own, at placebos too: see change_frames."""
        # what needs neither may change frames or words as a whole
        if self.plugin.needs not in ("region", "still"):
            return
        for case, trial in self.pairs([*self.cases, *self.placebos]):
            frames = zip(case.sample.frames, trial.sample.frames, strict=True)
            for mask, (old, new) in zip(case.place.masks, frames, strict=True):
                kept = same_pixels(old, new, mask)
                expect(
                    kept, "the sample's own pixels outside of the mask", got="others"
                )

    def test_heeds_its_donor(self) -> None:
        """What differs is taken from case.donor at case.donor_place: from itself, nothing does."""
        if self.plugin.needs != "still":
            return
        given = zip(self.trials(self.cases), self.trials(self.placebos), strict=True)
        differ = any(content(one) != content(other) for one, other in given)
        expect(differ, "other pictures with other donors", got="the same ones")
        alike = [
            replace(case, donor=case.sample, donor_place=case.place)
            for case in self.cases
        ]
        for case, trial in self.pairs(alike):
            for old, new in zip(case.sample.frames, trial.sample.frames, strict=True):
                levels = np.asarray(old.load(), int)
                most = np.abs(levels - np.asarray(new.load())).max()
                # one: pixels are whole numbers, and what is computed is rounded
                expect(most <= 1, "a sample like its donor as it was", got=most)

    def test_does_as_much_at_a_placebo(self) -> None:
        """A placebo has the cue's area, and is painted over as much: change all under the masks."""
        if self.plugin.needs != "region" or self.plugin.placebo != "elsewhere":
            return
        for one, other in zip(
            self.pairs(self.cases), self.pairs(self.placebos), strict=True
        ):
            areas = [changed_share(case.sample, t.sample) for case, t in (one, other)]
            # half: what is painted may equal some pixels that were there by chance
            near = abs(areas[0] - areas[1]) <= 0.5 * max(*areas, 1e-9)
            expect(near, "as many changed pixels at a place of equal area", got=areas)

    def test_gives_the_same_twice(self) -> None:
        """Draw from generator(case.seed, ...), and look at frames, question and place alone."""
        self.expect_same(self.cases, "the same trials for the same cases")
        # the place was found before, so the cue is still where it was
        bare = [with_sample(case, label=None, annotations={}) for case in self.cases]
        self.expect_same(bare, "the same change without label and annotations")

    def test_names_what_it_changed(self) -> None:
        """Equal keys are equal pixels to the cache: name all that decides them in frame.derive."""
        # the sample's own frames are in the cache under their keys as well
        shown: list[Case | Trial] = [*self.cases, *self.trials(self.cases)]
        shown += self.trials(self.placebos)
        seen: dict[str, bytes] = {}
        for frame in chain.from_iterable(asked.sample.frames for asked in shown):
            pixels = np.asarray(frame.load()).tobytes()
            same = seen.setdefault(frame.key, pixels) == pixels
            expect(same, "another key for other pixels", got=frame.key[:12])


def _is_of(trial: Trial, case: Case) -> bool:
    """True if a trial shows the case's own sample."""
    sample = trial.sample
    return (
        # what was changed stands behind the slash
        sample.key.partition("/")[0] == case.sample.key
        and sample.choices == case.sample.choices
        and sample.label == case.sample.label
        and len(sample.frames) == len(case.sample.frames)
    )


def place_in(sample: Sample) -> Place:
    """The red corner's place, in all frames but the last, as if it were shown there."""
    masks: list[Bool[np.ndarray, "row col"]] = []
    for number, frame in enumerate(sample.frames):
        width, height = frame.load().size
        mask = np.zeros((height, width), dtype=bool)
        if number < len(sample.frames) - 1:
            x0, y0, x1, y1 = (edge * width // SIDE for edge in CUE_BOX)
            mask[y0:y1, x0:x1] = True
        masks.append(mask)
    return Place(masks=tuple(masks), frames=(0,), spans=SPAN, modality="video")


def content(trial: Trial) -> str:
    """Digest of all that a model is shown."""
    # two kinds of edits may have equal fields
    edit = trial.edit and (trial.edit.kind, trial.edit)
    return digest(
        [frame.key for frame in trial.sample.frames], trial.sample.question, edit
    )


def changed_share(sample: Sample, other: Sample) -> float:
    """How much of the frames two samples show unlike."""
    areas = []
    for old, new in zip(sample.frames, other.frames, strict=True):
        differs = np.asarray(old.load()) != np.asarray(new.load())
        areas.append(differs.any(axis=2).mean())
    return float(np.mean(areas))
