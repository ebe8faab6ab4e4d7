"""What is cause, what is company, and what nobody can tell yet: the rules."""

from collections.abc import Sequence
from dataclasses import replace

from cuescope_confirm.companions.difficulty import is_own_look
from cuescope_confirm.locating import Target
from cuescope_confirm.scores import NO_MORE, Decision, Ruling, rule
from cuescope_confirm.study import Study
from cuescope_confirm.testimony.votes import Vote, suffice
from cuescope_confirm.verdicts.row import Row
from cuescope_confirm.verdicts.undecided import (
    ALL_ELSE,
    HARD_TO_SEE,
    MORE_PAIRS,
    MORE_SAMPLES,
    NO_SAMPLES,
    NOTHING_TO_EXPLAIN,
    ONLY_DAMAGE,
    OTHER_WAY,
    PERHAPS_ALL_ELSE,
    SAME_ELSEWHERE,
    SECOND_NONE,
    SPREAD,
    Undecided,
    its_company,
    nowhere,
    own_look,
)

OF_GAP = 0.25  # of what the run shows; a place that is learned never holds all of a cue


def ruling_on(study: Study, row: Row) -> Ruling:
    """What all that was measured of a cue says of it.

    Kinds of change decide one by one, else all evidence together; what is a cause by either is
    none where something else may do all of it.
    """
    ruling = by_kinds(row, study.options.margin)
    if row.effect is None:
        return ruling
    if ruling.verdict == "cannot tell":
        ruling = by_all_evidence(study, replace(row, ruling=ruling))
    if ruling.verdict != "causes":
        return ruling
    missing = _doubt(study, replace(row, ruling=ruling))
    if missing is not None:
        return Ruling("cannot tell", missing=missing)
    return _both_ways(ruling, row.votes)


def _both_ways(ruling: Ruling, votes: Sequence[Vote]) -> Ruling:
    """The same, where a change of a part tells of a way in which all of it cannot be changed."""
    full = {vote.removes for vote in votes if vote.standing == "full"}
    confirming = {vote.removes for vote in votes if vote.decision == "confirms"}
    told = confirming - full
    return replace(
        ruling,
        necessary=ruling.necessary or True in told,
        sufficient=ruling.sufficient or False in told,
    )


def claim_of(target: Target) -> float:
    """What an effect has to be at least: one far below the gap in the run would not explain it."""
    return target.direction.sure_gap * OF_GAP


def _margin(study: Study, target: Target) -> float:
    return max(study.options.margin, claim_of(target))


def _doubt(study: Study, row: Row) -> Undecided | None:
    """What is missing though a cue seems to be a cause; None where nothing is."""
    effect = row.effect
    # what several kinds cannot tell from nothing is no cause, however sure one of them is
    if effect is None or effect.low <= 0 or effect.high < study.options.margin:
        return SPREAD
    return (
        by_companion(study, row)
        or by_all_else(study, row)
        or by_embedding_alone(row, study.options.margin)
    )


def by_kinds(row: Row, margin: float) -> Ruling:
    """What kinds of change say one by one, with what is missing where they do not decide."""
    target = row.target
    votes = row.votes
    if any(vote.needs == "pair" for vote in votes):
        return _by_pairs(votes)
    if target.located is None:
        return Ruling("cannot tell", missing=nowhere(target.reason))
    is_located = target.located.is_sure
    has_pairs = any(witness.answers.pairs for witness in row.unmeasured)
    # pairs were made, but too few, or harmful by themselves: no tool would help
    if has_pairs and is_located and not votes:
        # of those with pairs only damage has a reason: the others have too few
        harm = [witness.reason for witness in row.unmeasured if witness.answers.pairs]
        missing = ONLY_DAMAGE if all(harm) else NO_SAMPLES
        return Ruling("cannot tell", missing=missing)
    ruling = _by_decisions(votes, located=bool(votes) or is_located)
    # what goes both ways is a cause where the run has too few samples to show it, or to deny it
    goes_both_ways = ruling.necessary and ruling.sufficient
    is_explained = row.is_shown or (goes_both_ways and target.direction.most >= margin)
    if ruling.verdict == "causes" and not is_explained:
        return Ruling("cannot tell", missing=NOTHING_TO_EXPLAIN)
    if ruling.verdict == "accompanies" and _is_of_one_kind(target, votes):
        return Ruling("cannot tell", missing=SECOND_NONE)
    if ruling.verdict == "accompanies" and _goes_the_other_way(target, votes, margin):
        return Ruling("cannot tell", missing=OTHER_WAY)
    # beyond its placebo but not its controls: more samples need not help
    if ruling.missing == MORE_SAMPLES and any(map(_fails_controls, votes)):
        return replace(ruling, missing=SAME_ELSEWHERE)
    return ruling


def _fails_controls(vote: Vote) -> bool:
    """Whether a kind does more than its placebo, and perhaps no more than its controls."""
    is_beyond = vote.effect.low > 0
    return vote.decision == "undecided" and is_beyond and bool(vote.effect.controls)


def _by_decisions(votes: Sequence[Vote], *, located: bool) -> Ruling:
    """What the decisions on all kinds of change say together."""
    removing: list[Decision] = []
    inserting: list[Decision] = []
    coarse: list[Decision] = []
    partial: list[Decision] = []
    inside = [vote for vote in votes if vote.standing == "inside"]
    for vote in votes:
        if vote.standing == "full":
            side = removing if vote.removes else inserting
            side.append(vote.decision)
        elif vote.standing == "coarse":
            coarse.append(vote.decision)
        # what leaves something of the cue proves nothing where it has no effect, and where it has
        # one, what it changed may be the company of the cue
        elif vote.decision == "confirms":
            partial.append(vote.decision)
    ruling = rule(
        removing,
        inserting,
        coarse,
        partial,
        located=located,
        exact=all(vote.is_exact for vote in votes),
    )
    if not removing and not inserting and _goes_both_ways(inside):
        return Ruling("causes", necessary=True, sufficient=True, inside=True)
    return ruling


def _goes_both_ways(votes: Sequence[Vote]) -> bool:
    """Whether what the model makes of the cue takes answers as it goes, and as it comes."""
    confirming = [vote for vote in votes if vote.decision == "confirms"]
    return len({vote.removes for vote in confirming}) > 1


def _goes_the_other_way(target: Target, votes: Sequence[Vote], margin: float) -> bool:
    """Whether answers surely move, and against a direction that the run does not surely show."""
    if target.direction.shown:
        return False
    return any(vote.effect.high < 0 and vote.effect.value <= -margin for vote in votes)


def _by_pairs(votes: Sequence[Vote]) -> Ruling:
    """The user's own pairs differ in the cue alone: no second kind of change has to agree."""
    [vote] = votes
    if vote.decision == "confirms":
        return Ruling("causes", necessary=True)
    if vote.decision == NO_MORE:
        return Ruling("accompanies")
    return Ruling("cannot tell", missing=MORE_PAIRS)


def _is_of_one_kind(target: Target, votes: Sequence[Vote]) -> bool:
    """Whether all that says that nothing moves is one kind of change, of a place that was learned.

    What is blanked, blurred or hidden takes a part of the object along, and the damage may be as
    large as what the cue does; what comes from a donor leaves edges. A change of whole pictures has
    to take nearly all of the cue: the model may use what is left.
    """
    saying = [vote for vote in votes if vote.decision == NO_MORE]
    is_learned = target.located is not None and target.located.auroc is not None
    is_exact = all(vote.is_exact or vote.standing == "coarse" for vote in saying)
    return is_learned and not is_exact and sum(vote.acquits for vote in saying) < 2


def by_all_evidence(study: Study, row: Row) -> Ruling:
    """A cause by all that was measured, where no single kinds decide.

    It takes three things. What is done to the cue surely moves answers, more than all that it is
    held against: one test of the kinds together. There are two unlike witnesses: two kinds of
    change, or changes and samples as they are. And their effect is large enough, and surely above
    0, for all that they disagree.
    """
    options = study.options
    effect = row.effect
    kinds = row.telling
    is_sure = row.tested.corrected <= 1 - options.confidence
    if effect is None or kinds[0].standing == "coarse" or not is_sure:
        return row.ruling
    is_seconded = row.beside is not None
    size = effect.value
    if kinds[0].standing == "inside":
        # an embedding tells a cue from its company worse: it takes what goes out and what comes
        # in, or samples of all labels; and what samples as they are say makes it no larger
        is_seconded = row.stands_for_one(options.margin)
        size = min(size, row.tested.value / kinds[0].part)
    are_unlike = is_seconded or suffice(kinds)
    if not are_unlike or not row.is_shown:
        return row.ruling
    if effect.low <= 0 or size < _margin(study, row.target):
        return row.ruling
    sides = {vote.removes for vote in kinds}
    return Ruling(
        "causes",
        necessary=True in sides,
        sufficient=False in sides,
        together=True,
        inside=kinds[0].standing == "inside",
    )


def by_embedding_alone(row: Row, margin: float) -> Undecided | None:
    """What is missing where the embedding alone decides, and what it tells may be no cue.

    In any embedding there is a direction of pictures that are hard to see, and one of each label.
    It tells a cue from its company worse than pictures do, so samples of all labels, all else
    alike, have to say that one answer comes with the cue.
    """
    if not row.ruling.inside:
        return None
    answer = row.target.cue.label if row.draws_answers else None
    if row.drawn is not None:
        is_told = row.drawn.alike is not None
        is_cue = row.drawn.stands_out(margin) if is_told else row.drawn.is_one
        if not is_cue:
            return PERHAPS_ALL_ELSE if row.drawn.is_one else HARD_TO_SEE
        answer = row.drawn.answer
    if answer is not None and is_own_look(row.target, answer):
        return own_look(answer)
    return None


def by_companion(study: Study, row: Row) -> Undecided | None:
    """What is missing where a companion does all that the cue seems to do; None where none does."""
    margin = _margin(study, row.target)
    # pairs differ in the cue alone
    if study.options.pairs is not None:
        return None
    for comparison in row.discordant:
        if comparison.vetoes(study.options.least, margin):
            companion = comparison.companion
            return its_company(companion.words, companion.name)
    return None


def by_all_else(study: Study, row: Row) -> Undecided | None:
    """What is missing where pictures without the cue tell all that it seems to do.

    Or where they may, and the cue is all over the frame, or only the embedding says what it does.
    """
    if row.beside is None:
        return None
    margin = _margin(study, row.target)
    alike = row.beside.alike
    if alike.high < margin:
        return ALL_ELSE
    # what changes all of a picture takes the cue's company along, and an embedding tells the two
    # apart worse, so samples as they are have to say so
    is_apart = row.target.has_place and not row.ruling.inside
    is_said = row.is_said_as_they_are(study.options.margin)
    return None if is_apart or is_said else PERHAPS_ALL_ELSE
