"""What boxes with names say of a claim: presence, places, movement."""

from cuescope_sdk import Detection
from cuescope_sdk.grounding import (
    IN_DEPTH,
    INVERSE,
    Claim,
    Judgement,
    agent_relation,
    best_judgement,
    holds_for_agent,
    relation_holds,
)
from cuescope_sdk.language import IN_SIGHT, OUT_OF_SIGHT, head_noun, normalise_words
from cuescope_verifiers.looking import Box, Found
from cuescope_verifiers.movement import Movement, colour_after, moved, movement, overlaps
from cuescope_verifiers.phrases import described, query


class BoxEvidence:
    """What the boxes of one video say of an undenied claim, frame by frame.

    A thing without a box is not there. With a closed `vocabulary` an adjective is out of it where
    the noun alone was found. `width` is that of the pictures and `step` the least way that counts
    as moving, both in pixels.
    """

    def __init__(
        self, found: Found, frames: int, vocabulary: frozenset[str] | None, width: int, step: float
    ) -> None:
        self._found, self._frames, self._vocabulary = found, frames, vocabulary
        self._width, self._step = width, step

    def at(self, claim: Claim, index: int) -> Judgement:
        """The judgement in one frame."""
        found = self._at(claim, index)
        return found.model_copy(update={"frame": index}) if found.reason is None else found

    def _at(self, claim: Claim, index: int) -> Judgement:
        subject, said = normalise_words(claim.subject), normalise_words(claim.predicate or "")
        match claim.kind:
            case "entity":
                return self._there(index, subject)
            case "attribute" if said in IN_SIGHT:
                return self._there(index, subject)
            case "attribute" if said in OUT_OF_SIGHT:  # gone or covered, boxes do not tell
                seen = self._there(index, subject).verdict == "supported"
                return Judgement.of(False) if seen else Judgement.open("occluded")
            case "attribute" if how := movement(said):
                return self._moves(index, subject, how)
            case "attribute":
                return self._there(index, described(subject, said))
            case "relation" if beside := agent_relation(claim):
                return self._beside(index, *beside)
            case "relation":
                return self._related(index, subject, said, normalise_words(claim.object or ""))
            case "action" if not subject:
                return Judgement.open("unclear reference")
            case "action" if colour := colour_after(said):
                return self._recoloured(index, subject, colour)
            case "action" if how := movement(said):
                return self._moves(index, subject, how)
        return Judgement.open("out of vocabulary")

    # -------------------------------------------------------------------------- presence and place

    def _boxes(self, index: int, phrase: str) -> list[Box]:
        names = query(phrase, self._vocabulary).names
        return [box for name in names for box in self._found.get((index, name), ())]

    def _told(self, phrase: str, found: Judgement) -> Judgement:
        """What was found, unless it was not found for the whole phrase."""
        asked = query(phrase, self._vocabulary)
        untold = not asked.names or (found.verdict == "supported" and not asked.exact)
        return Judgement.open("out of vocabulary") if untold else found

    def _there(self, index: int, phrase: str) -> Judgement:
        boxes = self._boxes(index, phrase)
        best = max((box.seen for box in boxes), key=lambda seen: seen.score, default=None)
        found = Judgement.of(True, score=best.score, box=best.box) if best else Judgement.of(False)
        return self._told(phrase, found)

    def _related(self, index: int, one: str, relation: str, other: str) -> Judgement:
        if relation not in INVERSE or relation in IN_DEPTH:
            return Judgement.open("complex relation")
        for phrase in (one, other):
            if not self._boxes(index, phrase):
                return self._there(index, phrase)
        pairs = [
            Judgement.of(bool(relation_holds(relation, a.seen.box, b.seen.box)), box=a.seen.box)
            for a in self._boxes(index, one)
            for b in self._boxes(index, other)
            if not overlaps(a.seen.box, b.seen.box)
        ]
        found = best_judgement(pairs) if pairs else Judgement.of(False)
        return self._told(one, self._told(other, found))

    def _beside(self, index: int, phrase: str, side: str) -> Judgement:
        """Of who holds the camera."""
        boxes = [box.seen for box in self._boxes(index, phrase)]
        if not boxes:
            return holds_for_agent(side, self._there(index, phrase), self._width)
        seen = (Judgement.of(True, box=box.box, score=box.score) for box in boxes)
        found = best_judgement(holds_for_agent(side, one, self._width) for one in seen)
        return self._told(phrase, found)

    # ------------------------------------------------------------------------------------ movement

    def _moves(self, index: int, phrase: str, how: Movement) -> Judgement:
        """Whether any track does it since the frame before; in the first frame, until the next."""
        if self._frames < 2:
            return Judgement.open("no evidence")
        if how in ("appear", "disappear"):
            return self._told(phrase, self._comes_or_goes(index, phrase, how))
        if not self._boxes(index, phrase):
            return self._there(index, phrase)
        start = max(index - 1, 0)
        before, after = self._tracks(start, phrase), self._tracks(start + 1, phrase)
        both = [(before[track], after[track]) for track in after if track in before]
        if not both:  # a track that was lost tells nothing; a thing that was not there did not move
            return Judgement.open("no evidence") if before and after else Judgement.of(False)
        found = best_judgement(
            Judgement.of(moved(old.box, new.box, how, self._step), box=new.box, score=new.score)
            for old, new in both
        )
        return self._told(phrase, found)

    def _comes_or_goes(self, index: int, phrase: str, how: Movement) -> Judgement:
        """Whether a track begins here, or is in its last frame, or ended in the frame before."""
        now = self._tracks(index, phrase)
        before = self._tracks(index - 1, phrase) if index else now
        after = self._tracks(index + 1, phrase) if index + 1 < self._frames else now
        if how == "appear":
            changed = {track: now[track] for track in now if track not in before}
        else:
            changed = {track: now[track] for track in now if track not in after}
            changed |= {track: before[track] for track in before if track not in now}
        elsewhere = range(index) if how == "appear" else range(index + 1, self._frames)
        known = {track for frame in elsewhere for track in self._tracks(frame, phrase) if track}
        for_good = [box for track, box in changed.items() if track not in known]
        return Judgement.of(bool(for_good), box=for_good[0].box if for_good else None)

    def _tracks(self, index: int, phrase: str) -> dict[int, Detection]:
        """The box of each track; where nothing is tracked the best box alone, as track 0."""
        best: dict[int, Detection] = {}
        for box in sorted(self._boxes(index, phrase), key=lambda box: -box.seen.score):
            best.setdefault(box.track or 0, box.seen)
        return best

    def _recoloured(self, index: int, subject: str, colour: str) -> Judgement:
        """Whether the thing has the colour now, and was there without it in the frame before."""
        if index == 0:
            return Judgement.of(False)
        coloured = described(head_noun(subject), colour)
        now, then = self._there(index, coloured), self._there(index - 1, coloured)
        there = self._there(index - 1, subject)
        untold = [one for one in (now, then, there) if one.reason is not None]
        said = (now.verdict, then.verdict, there.verdict)
        turned = said == ("supported", "unsupported", "supported")
        return untold[0] if untold else Judgement.of(turned, box=now.box, score=now.score)
