"""Claims held against what a data set has annotated of each frame (`scenes.SCENE`).

SceneVerifier().judge([(sample, claims), ...])
"""

from collections.abc import Callable, Sequence
from functools import cached_property

from cuescope_core.digest import digest
from cuescope_core.types import Frame, Sample
from cuescope_sdk.grounding._claims import At, Case, Judgement, judge_claims
from cuescope_sdk.grounding._kinds import Claim
from cuescope_sdk.grounding._relations import RELATIONS
from cuescope_sdk.grounding._scenes import SCENE, SceneFrame, Thing
from cuescope_sdk.language._words import (
    AGENTS,
    COMING_AND_GOING,
    is_name_of,
    normalise_words,
)


class SceneVerifier:
    """Judges by the annotated scene of a sample; without one there is no evidence."""

    # 3: count it up when a judgement changes, it keys the cache
    fingerprint = digest("scene-graph", 3)

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        return [self._judge(sample, claims) for sample, claims in cases]

    def _judge(self, sample: Sample, claims: Sequence[Claim]) -> list[Judgement]:
        scene = sample.annotations.get(SCENE)
        if scene is None:
            return judge_claims(claims, len(sample.frames))
        return judge_claims(claims, len(scene), self.evidence(scene, sample.frames))

    @staticmethod
    def evidence(scene: Sequence[SceneFrame], frames: Sequence[Frame]) -> At:
        """Judges an undenied claim in one frame of a scene."""
        return SceneEvidence(scene, frames).at


class SceneEvidence:
    """Evidence of the frames of one scene on an undenied claim.

    Where several things fit a phrase, any of them may make the claim true. What is not annotated is
    not so where the frame is `closed` on that kind; else nothing follows, and a word that the scene
    never uses is out of its vocabulary. A frame is opened only where a thing is said to be on a
    side of who holds the camera.
    """

    def __init__(self, scene: Sequence[SceneFrame], frames: Sequence[Frame]) -> None:
        self.scene = scene
        self._frames = frames
        self._things: dict[str, Thing] = {}
        self._names: set[str] = set()
        self._attributes: set[str] = set()
        self._verbs: set[str] = set()
        self._relations: set[str] = set()
        for frame in scene:
            for item in frame.things:
                self._things.setdefault(item.id, item)
                self._names.add(normalise_words(item.name))
                self._attributes.update(map(normalise_words, item.attributes))
            self._verbs.update(normalise_words(action.verb) for action in frame.actions)
            self._relations.update(relation.predicate for relation in frame.relations)

    def at(self, claim: Claim, index: int) -> Judgement:
        """The judgement in one frame."""
        frame = self.scene[index]
        match claim.kind:
            case "entity":
                judgement = self._entity(frame, claim.subject)
            case "attribute":
                judgement = self._attribute(frame, claim)
            case "count":
                judgement = self._count(frame, claim)
            case "relation":
                judgement = self._relation(frame, claim)
            case "action":
                judgement = self._action(index, claim)
            case "ego-motion":
                judgement = self._motion(frame, claim.predicate or "")
            case _:
                judgement = Judgement.open("out of vocabulary")
        if judgement.reason is not None:
            return judgement

        def names_of(phrase: str) -> list[str]:
            return [item.name for item in self._meant(frame, frame.things, phrase)]

        general = judgement.verdict == "supported" and claim.is_general(names_of)
        return judgement.replace(frame=index, general=general)

    # --------------------------------------------------------------------------------- entities

    def _entity(self, frame: SceneFrame, phrase: str) -> Judgement:
        return self._any(frame, phrase, lambda thing: Judgement.of(True, box=thing.box))

    def _any(
        self,
        frame: SceneFrame,
        phrase: str,
        judge: Callable[[Thing], Judgement],
        but: Thing | None = None,
    ) -> Judgement:
        """Evidence on any thing that fits the phrase, other than `but`."""
        judgements = []
        for item in frame.things:
            fit = self._fit(frame, item, phrase)
            # a thing is not next to itself
            if item is but or fit.verdict == "unsupported":
                continue
            judgement = judge(item) if item.visible else Judgement.open("occluded")
            # a yes about what may not be meant is open; a no stays a no
            unsure = fit.reason and judgement.verdict == "supported"
            judgements.append(fit if unsure else judgement)
        return Judgement.best(judgements) if judgements else self._absent(frame, phrase)

    def _fit(self, frame: SceneFrame, thing: Thing, phrase: str) -> Judgement:
        """Judge if a phrase means a thing: the longest name that is its, and all adjectives."""
        words = normalise_words(phrase).split()
        # the longest name first: "fire truck" before "truck"
        for start in range(len(words)):
            if is_name_of(" ".join(words[start:]), normalise_words(thing.name)):
                doubt = Judgement.of(True)
                for word in words[:start]:
                    judgement = self._has(frame, thing, word)
                    # one wrong adjective outweighs an unknown one
                    if judgement.verdict == "unsupported":
                        return judgement
                    if doubt.reason is None and judgement.reason is not None:
                        doubt = judgement
                return doubt
        return Judgement.of(False)

    def _meant(
        self,
        frame: SceneFrame,
        things: Sequence[Thing],
        phrase: str,
    ) -> list[Thing]:
        """Those of the things that a phrase means for certain."""
        return [
            item
            for item in things
            if self._fit(frame, item, phrase).verdict == "supported"
        ]

    def _absent(self, frame: SceneFrame, phrase: str) -> Judgement:
        # all is annotated, so what is missing is not there
        if "things" in frame.closed:
            return Judgement.of(False)
        words = normalise_words(phrase).split()
        tails = [" ".join(words[start:]) for start in range(len(words))]
        known = any(is_name_of(tail, name) for tail in tails for name in self._names)
        return Judgement.open("no evidence" if known else "out of vocabulary")

    def _count(self, frame: SceneFrame, claim: Claim) -> Judgement:
        seen = 0
        doubts = []
        for item in frame.things:
            fit = self._fit(frame, item, claim.subject)
            if fit.reason:
                doubts.append(fit)
            elif fit.verdict == "supported" and item.visible:
                seen += 1
            elif fit.verdict == "supported":
                doubts.append(Judgement.open("occluded"))
        judgement = Judgement.of_count(claim, seen)
        if judgement.verdict == "unsupported" and doubts:
            return Judgement.best(doubts)
        # nobody said that all were annotated: there may be more
        open_ended = judgement.verdict == "unsupported" and "things" not in frame.closed
        return Judgement.open("no evidence") if open_ended else judgement

    # ------------------------------------------------------------------------------- attributes

    def _attribute(self, frame: SceneFrame, claim: Claim) -> Judgement:
        phrase = claim.subject
        attribute = normalise_words(claim.predicate or "")
        if claim.in_sight:
            return self._entity(frame, phrase)
        if claim.in_sight is False:
            meant = self._meant(frame, frame.things, phrase)
            hidden = any(not item.visible for item in meant)
            return Judgement.of(hidden) if meant else self._absent(frame, phrase)
        return self._any(
            frame, phrase, lambda thing: self._has(frame, thing, attribute)
        )

    def _has(self, frame: SceneFrame, thing: Thing, attribute: str) -> Judgement:
        if attribute in map(normalise_words, thing.attributes):
            return Judgement.of(True, box=thing.box)
        if "attributes" in frame.closed:
            return Judgement.of(False, box=thing.box)
        known = attribute in self._attributes
        return Judgement.open("no evidence" if known else "out of vocabulary")

    # -------------------------------------------------------------------------------- relations

    def _relation(self, frame: SceneFrame, claim: Claim) -> Judgement:
        relation = claim.predicate or ""
        other = claim.object or ""
        visible = {normalise_words(item.name) for item in frame.things if item.visible}
        if claim.beside_agent and visible.isdisjoint(AGENTS):
            return self._beside(frame, *claim.beside_agent)
        # neither geometry nor the annotators know this word
        if relation not in RELATIONS and relation not in self._relations:
            return Judgement.open("complex relation")

        def to_any(subject: Thing) -> Judgement:
            return self._any(
                frame,
                other,
                lambda target: self._judge_relation(frame, subject, relation, target),
                subject,
            )

        return self._any(frame, claim.subject, to_any)

    def _beside(self, frame: SceneFrame, phrase: str, side: str) -> Judgement:
        """Evidence on who holds the camera."""
        # who holds the camera sees what the picture shows: its left half is on their left
        in_picture = self._entity(frame, phrase)
        if in_picture.verdict != "supported":
            return in_picture.seen_from_agent(side, self._width)

        def is_beside(thing: Thing) -> Judgement:
            seen = Judgement.of(True, box=thing.box)
            return seen.seen_from_agent(side, self._width)

        return self._any(frame, phrase, is_beside)

    @cached_property
    def _width(self) -> int:
        return self._frames[0].load().width  # all frames of a video have one size

    def _judge_relation(
        self,
        frame: SceneFrame,
        subject: Thing,
        relation: str,
        target: Thing,
    ) -> Judgement:
        spatial = RELATIONS.get(relation)
        told = [(subject.id, relation, target.id)]
        if spatial:
            told.append((target.id, spatial.inverse, subject.id))
        for annotated in frame.relations:
            if (annotated.subject, annotated.predicate, annotated.object) in told:
                return Judgement.of(True, box=subject.box)
        if "relations" in frame.closed:
            return Judgement.of(False, box=subject.box)
        # boxes have no depth, and nobody wrote it down
        if spatial and spatial.in_depth and relation not in self._relations:
            return Judgement.open("complex relation")
        if spatial is None or subject.box is None or target.box is None:
            return Judgement.open("no evidence")
        holds = spatial.holds(subject.box, target.box)
        if holds is None:
            return Judgement.open("no evidence")
        return Judgement.of(holds, box=subject.box)

    # ----------------------------------------------------------------------- actions and motion

    def _action(self, index: int, claim: Claim) -> Judgement:
        frame = self.scene[index]
        verb = normalise_words(claim.predicate or "")
        passing = verb.partition(" ")[0] in COMING_AND_GOING  # need not be in sight
        in_picture = None
        subject = normalise_words(claim.subject)
        if subject and subject not in AGENTS and not passing:
            in_picture = self._entity(frame, subject)
        if in_picture and in_picture.reason == "occluded":
            return in_picture
        for action in frame.actions:
            if (
                _tells(normalise_words(action.verb), verb)
                and self._takes_part(index, action.subject, claim.subject)
                and (
                    not claim.object
                    or self._takes_part(index, action.object, claim.object)
                )
            ):
                things = self._near(index, action.subject)
                # an agent behind the camera has no box
                return Judgement.of(True, box=things[0].box if things else None)
        if "actions" in frame.closed:
            return Judgement.of(False)
        if in_picture and in_picture.verdict != "supported":
            return in_picture
        known = any(_tells(annotated, verb) for annotated in self._verbs)
        return Judgement.open("no evidence" if known else "out of vocabulary")

    def _takes_part(self, index: int, known: str | None, phrase: str) -> bool:
        """True if a phrase means the thing with the id `known`, now or in the frame before.

        An id without a thing is an agent that is not in the picture.
        """
        if known is None or not phrase:
            return known is not None
        if known not in self._things:
            words = normalise_words(phrase)
            return words in AGENTS or words == normalise_words(known)
        return bool(self._meant(self.scene[index], self._near(index, known), phrase))

    def _near(self, index: int, known: str) -> list[Thing]:
        """A thing as it is now and was in the frame before; else as it first was."""
        # who has just left the picture was the one who left
        now = self.scene[index].things
        before = self.scene[max(index - 1, 0)].things
        things = [item for item in (*now, *before) if item.id == known]
        return things or list(filter(None, [self._things.get(known)]))

    def _motion(self, frame: SceneFrame, motion: str) -> Judgement:
        if frame.motion is not None:
            return Judgement.of(frame.motion == motion)
        if "motion" in frame.closed:
            return Judgement.of(motion == "stop")
        known = motion in SceneFrame.MOTIONS
        return Judgement.open("no evidence" if known else "out of vocabulary")


def _tells(known: str, claimed: str) -> bool:
    """True if an annotated verb says what is claimed: "move left" tells of "move"."""
    return known == claimed or known.startswith(f"{claimed} ")
