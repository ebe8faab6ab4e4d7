"""Cues that draw an answer: who shows them, as held-out recognisers say, and what they change.

A cue is looked for behind each common wrong answer, in the model's embedding and in the pictures
themselves: an adapted network may keep in its embedding only what it answers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Frame
from cuescope_sdk.locating import Look
from cuescope_sdk.maths import normalise, on_one_thread
from cuescope_sdk.statistics import (
    LabelEffects,
    Recognised,
    TwoGroups,
    benjamini_hochberg,
    recognise,
)
from cuescope_sdk.stills import Answers
from cuescope_trove.candidates.groups import Candidates
from cuescope_trove.scores import Observations

MOST_ANSWERS = 20  # the most common wrong ones; the work grows with them
# samples whose middle frames are looked at, for 3 ms each; of more, the embedding tells more
MOST_PICTURES = 4_000
PICTURE_DIMENSIONS = 100  # principal ones of what is seen in pictures
SHOWN = 0.5  # probability from which on a sample is listed as showing a cue
PerFrame = Float[np.ndarray, " frame"]


@dataclass(frozen=True, eq=False)
class View:
    """Rows that describe some frames; `frames` are their numbers, some of each sequence.

    `read` gives the rows of others, of these answers or of any.
    """

    name: str
    frames: Int[np.ndarray, " seen"]
    rows: Float[np.ndarray, "seen dim"]
    read: Callable[[Answers, Int[np.ndarray, " frame"]], Float[np.ndarray, "frame dim"]]


@dataclass(frozen=True, eq=False)
class Cue:
    """A cue that draws an answer, as one view shows it.

    `odds` is the log odds of each frame to show it, by two `groups` of frames, minus infinity where
    nobody looked. `p_value` is of no effect where surer cues are alike, `q_value` corrected for all
    answers and views.
    """

    answer: int
    view: View
    recognised: Recognised
    effects: LabelEffects
    odds: PerFrame
    groups: TwoGroups | None = None
    p_value: float = 1.0
    q_value: float = 1.0

    @property
    def probability(self) -> Float[np.ndarray, " sample"]:
        """Probability that each sequence shows the cue."""
        return self.recognised.probability

    def members(self, observations: Observations) -> Int[np.ndarray, " member"]:
        """Frames that show the cue, in sequences that likely do; the likeliest first."""
        own = observations.frame_sample
        highest = np.full(len(observations.label), -np.inf)
        np.maximum.at(highest, own, self.odds)
        # each listed sequence has a frame
        is_shown = (self.odds > 0) | (self.odds == highest[own])
        members = np.flatnonzero(is_shown & (self.probability[own] > SHOWN))
        return members[np.argsort(-self.odds[members], kind="stable")]


def recognise_cues(
    audit: Audit, observations: Observations, fdr: float
) -> tuple[list[Cue], int]:
    """The cue of each common wrong answer, surest first, and how many were tested.

    Of its views, that with the larger shared slope speaks for an answer. A cue is tested in samples
    that are alike in the surer ones that are clear (`fdr`): what is only the absence of another
    cue, or the same one behind another answer, changes nothing there (forward selection).
    """
    wrong = wrong_answers(observations)
    if not wrong:
        return [], 0
    tested = []
    views = list(_views(audit, observations))
    with audit.context.progress("recognising cues", len(wrong) * len(views)) as advance:
        for view in views:
            for answer in wrong:
                cue = _cue(audit, observations, view, answer)
                if cue is not None:
                    tested.append(cue)
                advance(1)
    best: dict[int, Cue] = {}
    for cue in tested:
        before = best.get(cue.answer)
        if before is None or cue.effects.z > before.effects.z:
            best[cue.answer] = cue
    ordered = sorted(best.values(), key=lambda cue: -cue.effects.z)
    others = [cue for cue in tested if cue is not best[cue.answer]]
    p_values = [cue.effects.p_value for cue in [*ordered, *others]]
    strata = observations.label
    for number, cue in enumerate(ordered):
        p_values[number] = _p_value_within(cue, strata, observations, audit)
        if benjamini_hochberg(p_values)[number] <= fdr:
            strata = 2 * strata + (cue.probability > SHOWN)
    q_values = benjamini_hochberg(p_values)
    shown = []
    for cue, p_value, q_value in zip(ordered, p_values, q_values, strict=False):
        # a cue that no sample shows for sure has nothing to look at
        if (cue.probability > SHOWN).any():
            cue = replace(cue, p_value=p_value, q_value=float(q_value))
            shown.append(_in_frames(audit, observations, cue, q_value <= fdr))
    return shown, len(tested)


def wrong_answers(observations: Observations) -> list[int]:
    """The answers that most often are wrong."""
    wrong = observations.prediction[~observations.correct]
    counts = np.bincount(wrong, minlength=observations.classes)
    order = np.argsort(-counts, kind="stable")[:MOST_ANSWERS]
    return [int(answer) for answer in order if counts[answer]]


def signs(answer: int, labels: int) -> Float[np.ndarray, " label"]:
    """1 for the answer's own label, whose accuracy its cue raises, -1 for all others."""
    return np.where(np.arange(labels) == answer, 1.0, -1.0)


def candidates_of(cues: Sequence[Cue], observations: Observations) -> Candidates:
    """The frames that show each cue."""
    members = [cue.members(observations) for cue in cues]
    strength = [cue.odds[frames] for cue, frames in zip(cues, members, strict=True)]
    return Candidates(len(observations.frame_sample), members, strength)


def _cue(
    audit: Audit, observations: Observations, view: View, answer: int
) -> Cue | None:
    label, groups = observations.label, observations.groups
    labels = observations.classes
    given = observations.prediction == answer
    recognised = recognise(
        _mean_rows(view, observations),
        label,
        given,
        labels,
        groups,
        audit.rng("recognise", view.name, str(answer)),
    )
    if recognised is None:
        return None
    effects = LabelEffects.of(
        recognised.probability,
        observations.values,
        label,
        signs(answer, labels),
        groups,
        # the same draws for each view: of two that show the same samples the first is taken
        audit.rng("effects", str(answer)),
    )
    unknown = np.full(len(observations.frame_sample), -np.inf)
    return Cue(answer, view, recognised, effects, unknown)


def _p_value_within(
    cue: Cue,
    strata: Int[np.ndarray, " sample"],
    observations: Observations,
    audit: Audit,
) -> float:
    """Of no shared slope within strata of samples, which lie within labels."""
    _, first, stratum = np.unique(strata, return_index=True, return_inverse=True)
    effects = LabelEffects.of(
        cue.probability,
        observations.values,
        stratum,
        signs(cue.answer, observations.classes)[observations.label[first]],
        observations.groups,
        audit.rng("effects", str(cue.answer)),
    )
    return effects.p_value if effects.z > 0 else 1.0


def _mean_rows(
    view: View, observations: Observations
) -> Float[np.ndarray, "sample dim"]:
    own = observations.frame_sample[view.frames]
    sums = np.zeros((len(observations.label), view.rows.shape[1]))
    np.add.at(sums, own, view.rows)
    return sums / np.bincount(own)[:, None]


def _in_frames(
    audit: Audit, observations: Observations, cue: Cue, everywhere: bool
) -> Cue:
    """The cue with the odds of the view's frames, and of all others in sequences that show it.

    Frames that the view does not have are opened only where all are wanted.
    """
    label, fold = observations.label, cue.recognised.fold
    odds = np.full(len(observations.frame_sample), -np.inf)
    seen = cue.view.frames
    own = observations.frame_sample[seen]
    score = cue.recognised.scores_of(cue.view.rows, label[own], fold[own])
    given = observations.prediction[own] == cue.answer
    groups = TwoGroups.fit(score, label[own], given, observations.classes)
    odds[seen] = groups.log_odds(score, label[own])
    unseen = (cue.probability > SHOWN)[observations.frame_sample]
    unseen[seen] = False
    frames = np.flatnonzero(unseen)
    if everywhere and len(frames):
        rows = cue.view.read(audit.once(Answers.ask, audit), frames)
        own = observations.frame_sample[frames]
        score = cue.recognised.scores_of(rows, label[own], fold[own])
        odds[frames] = groups.log_odds(score, label[own])
    return replace(cue, odds=odds, groups=groups)


# ------------------------------------------------------------------------------------- the views


def _views(audit: Audit, observations: Observations) -> Iterator[View]:
    answers = audit.once(Answers.ask, audit)
    frames = np.arange(len(observations.frame_sample))
    yield View("embedding", frames, _embeddings(answers, frames), _embeddings)
    if len(observations.label) <= MOST_PICTURES:
        with audit.spare("what the pictures themselves have in common"):
            pictures = _pictures(audit, observations)
            if pictures is not None:
                yield pictures


def _embeddings(
    answers: Answers, numbers: Int[np.ndarray, " frame"]
) -> Float[np.ndarray, "frame dim"]:
    return normalise(answers.embedding[numbers]).astype(np.float64)


@on_one_thread
def _pictures(audit: Audit, observations: Observations) -> View | None:
    """Colours, detail and kinds of patches in each sequence's middle frame; None: all are alike."""
    from sklearn.decomposition import PCA

    answers = audit.once(Answers.ask, audit)
    _, first, counts = np.unique(
        observations.frame_sample, return_index=True, return_counts=True
    )
    middle = first + counts // 2
    frames = _frames_at(answers, middle)
    if len({frame.key for frame in frames}) < 2:
        return None
    look = Look.learn(frames, audit.rng("pictures"))
    rows = look.read(frames)
    spread = rows.std(axis=0)
    varies = spread > 0
    rows = rows[:, varies] / spread[varies]
    count = min(PICTURE_DIMENSIONS, *rows.shape)
    seed = audit.derive_seed("pictures")
    reduced = PCA(count, svd_solver="randomized", random_state=seed % 2**32)

    def read(
        answers: Answers, numbers: Int[np.ndarray, " frame"]
    ) -> Float[np.ndarray, "frame dim"]:
        others = look.read(_frames_at(answers, numbers))[:, varies] / spread[varies]
        return np.asarray(reduced.transform(others))

    return View("pictures", middle, reduced.fit_transform(rows), read)


def _frames_at(answers: Answers, numbers: Int[np.ndarray, " seen"]) -> list[Frame]:
    samples = {
        outcome.trial.sample.key: outcome.trial.sample for outcome in answers.outcomes
    }
    places = list(answers.row)
    return [
        samples[key].frames[frame]
        for key, frame in (places[number] for number in numbers)
    ]
