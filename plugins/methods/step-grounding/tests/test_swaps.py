"""The swap null on tables whose answer is known: what is blind, and what is grounded."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, permutations

import numpy as np
import pytest

from cuescope_sdk import Sample, generator
from cuescope_sdk.grounding import SCENE, Claim, SceneFrame, SceneVerifier, Thing
from cuescope_step_grounding.verification.judged import judge_claims
from cuescope_step_grounding.verification.strata import TraceClaims, by_group, strata
from cuescope_step_grounding.verification.swaps import (
    FAILS,
    HOLDS,
    OPEN,
    Deal,
    Plan,
    Swaps,
    grounded_share,
    least_share,
    moved_claim,
    noisy,
    plans,
    question_words,
    repeats,
    swap_p_value,
)
from cuescope_step_grounding.verification.verdict import (
    FITS,
    OPEN as OPEN_VERDICT,
    SURE,
    least_found,
    verdict,
)

PLACES = 8


def table(units: int, share: float, rng: np.random.Generator, claims: int = 8) -> Swaps:
    """Claims that hold in any place by chance, each with its own; this share is made to hold."""
    rates = rng.beta(1, 3, units * claims)
    verdicts = (rng.random((units * claims, PLACES)) < rates[:, None]).astype(int)
    unit, place = np.repeat(np.arange(units), claims), np.arange(units) % PLACES
    grounded = rng.random(units * claims) < share
    verdicts[grounded, place[unit[grounded]]] = HOLDS
    block, group = np.arange(units) // PLACES, np.arange(units)
    return Swaps(block, place, verdicts, unit, group)


def p_value(swaps: Swaps, draws: int = 999) -> float:
    return swap_p_value(swaps, generator(0, "swaps"), draws=draws)


# ----------------------------------------------------------------------------------- the statistic


def test_all_orders_of_a_small_block_give_the_p_value() -> None:
    swaps = table(4, 0.3, generator(1), claims=5)
    scores = swaps.table()
    totals = [
        sum(scores[unit, place] for unit, place in enumerate(order))
        for order in permutations(range(4))
    ]
    exact = np.mean(np.array(totals) >= totals[0] - 1e-9)
    assert p_value(swaps, 19_999) == pytest.approx(exact, abs=0.04)
    spread = np.std(totals)
    assert swaps.z(scores) == pytest.approx((totals[0] - np.mean(totals)) / spread)


def test_one_text_for_all_is_as_good_in_every_order() -> None:
    swaps = table(16, 0.0, generator(2))
    one = swaps.verdicts[:8]
    same = replace(swaps, verdicts=np.tile(one, (16, 1)))
    assert p_value(same) == 1
    assert same.z(same.table()) == 0


def test_blind_traces_are_below_a_level_as_often_as_it_says() -> None:
    """At 0.2 of 200: 40 expected, 61 or more once in 5,000."""
    hits = sum(
        p_value(table(16, 0.0, generator(s, "blind")), 199) <= 0.2 for s in range(200)
    )
    assert 20 <= hits <= 60


def test_grounding_is_found_although_other_claims_are_false_more_often_than_by_chance() -> (
    None
):
    """Three of ten claims are true; all others name what the video never shows."""
    rng = generator(3)
    swaps = table(24, 0.0, rng, claims=12)
    verdicts = swaps.verdicts.copy()
    own = swaps.place[swaps.unit]
    true = rng.random(len(own)) < 0.3
    verdicts[np.arange(len(own)), own] = np.where(true, HOLDS, FAILS)
    planted = replace(swaps, verdicts=verdicts)
    held = (planted.own == HOLDS).mean()
    assert planted.rate_elsewhere is not None
    assert held < planted.rate_elsewhere + 0.1  # the plain difference says little
    assert p_value(planted, 1999) <= SURE
    verdicts[np.arange(len(own)), own] = FAILS
    assert p_value(replace(swaps, verdicts=verdicts)) > 0.9


def test_a_place_where_nothing_is_known_is_neither_for_nor_against() -> None:
    swaps = table(16, 0.5, generator(4))
    verdicts = swaps.verdicts.copy()
    verdicts[np.arange(len(swaps.unit)), swaps.place[swaps.unit]] = OPEN
    blinded = replace(swaps, verdicts=verdicts)
    assert p_value(blinded) > 0.3
    assert grounded_share(blinded) is None


# ----------------------------------------------------------------------------- how much is grounded


@pytest.mark.parametrize(
    "share",
    [0.1, *(pytest.param(share, marks=pytest.mark.long) for share in (0.3, 0.6, 0.95))],
)
def test_the_grounded_share_is_what_was_planted(share: float) -> None:
    """Its interval holds it in 50 of 60 audits or more: at 94% fewer come once in 2,000."""
    shares = [
        grounded_share(table(40, share, generator(s, "share"))) for s in range(60)
    ]
    values = [each.value for each in shares if each]
    assert np.mean(values) == pytest.approx(share, abs=0.04)
    assert sum(each.low <= share <= each.high for each in shares if each) >= 50


def test_what_holds_everywhere_tells_nothing() -> None:
    swaps = table(16, 0.0, generator(5))
    always = replace(swaps, verdicts=np.ones_like(swaps.verdicts))
    never = replace(swaps, verdicts=np.zeros_like(swaps.verdicts))
    assert grounded_share(always) is None
    assert not always.telling.any()
    share = grounded_share(never)
    assert share is not None
    assert share.value == 0
    assert p_value(always) == p_value(never) == 1


def test_a_perfect_trace_keeps_an_interval() -> None:
    share = grounded_share(table(24, 1.0, generator(6)))
    assert share is not None
    assert share.value > 0.99
    assert 0.6 < share.low < 0.97


def test_the_least_share_is_found_in_eight_of_ten() -> None:
    """The share is foretold from blind traces; 40 audits that have it are found in 22 to 39."""
    foretold = least_share(table(24, 0.0, generator(7)), generator(8), 0.01)
    assert foretold is not None
    found = sum(
        p_value(table(24, foretold, generator(s, "power")), 499) <= 0.01
        for s in range(40)
    )
    assert 22 <= found <= 39


def test_noise_turns_what_is_decided_and_no_more() -> None:
    swaps = table(16, 0.0, generator(9))
    verdicts = swaps.verdicts.copy()
    verdicts[:, 0] = OPEN
    turned = noisy(replace(swaps, verdicts=verdicts), 0.1, generator(10)).verdicts
    assert (turned[:, 0] == OPEN).all()
    assert (turned != verdicts)[:, 1:].mean() == pytest.approx(0.1, abs=0.03)


# ------------------------------------------------------------------------------------------- places

NAMES = ("cup", "dog", "lamp", "tree", "boat", "kite", "drum", "sofa", "bell", "fork")
CLOSED = frozenset({"things"})


def video(key: str, names: Sequence[Sequence[str]], **more: object) -> Sample:
    """A video that shows these things, a list a frame."""
    scene = tuple(
        SceneFrame(
            things=tuple(Thing(id=n, name=n, visible=True) for n in of), closed=CLOSED
        )
        for of in names
    )
    from cuescope_sdk import Frame

    pixels = np.full((2, 2, 3), sum(map(ord, key)) % 256, np.uint8)
    frames = tuple(Frame.from_array(pixels + np.uint8(i)) for i in range(len(names)))
    return Sample(key=key, frames=frames, annotations={SCENE: scene}, **more)  # type: ignore[arg-type]


def there(name: str, *frames: int) -> Claim:
    return Claim(kind="entity", text="", subject=name, frames=frames or None)


def shown(seed: int, count: int, frames: int = 6) -> list[list[list[str]]]:
    """For each video three of ten things a frame."""
    rng = generator(seed, "shown")
    return [
        [rng.choice(NAMES, 3, replace=False).tolist() for _ in range(frames)]
        for _ in range(count)
    ]


def deals_of(traces: Sequence[TraceClaims], partners: int) -> dict[Deal, Plan]:
    return plans(strata(by_group(traces), partners), {})


def word(traces: Sequence[TraceClaims], decided: float = 1.0) -> str:
    deals = deals_of(traces, 7)
    cases = [case for plan in deals.values() for case in plan.cases()]
    judgements = judge_claims(SceneVerifier(), cases)
    swaps = {
        deal: held
        for deal, plan in deals.items()
        if (held := plan.swaps(judgements.of))
    }
    rng = lambda *names: generator(1, *names)  # noqa: E731
    return verdict(swaps, decided, rng, margin=0.05, level=0.05).word


def told(scene: Sequence[Sequence[str]]) -> tuple[tuple[Claim, ...], ...]:
    """What is shown, a step a frame."""
    return tuple(
        tuple(there(name, at) for name in names) for at, names in enumerate(scene)
    )


def test_what_is_true_of_its_own_video_fits_and_blind_traces_do_not() -> None:
    scenes = shown(0, 24)
    samples = [video(f"v{n}", scene) for n, scene in enumerate(scenes)]
    own = [
        TraceClaims(s, told(scene)) for s, scene in zip(samples, scenes, strict=True)
    ]
    assert word(own) == FITS
    assert word(own, decided=0.4) == OPEN_VERDICT
    constant = [replace(trace, claims=own[0].claims) for trace in own]
    assert word(constant) != FITS
    other = [replace(t, claims=own[n - 1].claims) for n, t in enumerate(own)]
    assert word(other) != FITS


def test_one_video_is_compared_with_nothing() -> None:
    alone = [TraceClaims(video("a", [["cup"]]), told([["cup"]]))]
    assert word(alone) == OPEN_VERDICT
    group = [
        TraceClaims(video(f"a{n}", [["cup"]], group="a"), told([["cup"]]))
        for n in range(4)
    ]
    assert word(group) == OPEN_VERDICT
    assert word([]) == OPEN_VERDICT


def test_what_would_be_found_is_told() -> None:
    scenes = shown(1, 24)
    traces = [
        TraceClaims(video(f"v{n}", s), told(scenes[n - 1]))
        for n, s in enumerate(scenes)
    ]
    plan = deals_of(traces, 7)["videos"]
    held = plan.swaps(judge_claims(SceneVerifier(), plan.cases()).of)
    assert held is not None
    text = least_found({"videos": held}, generator(0))
    assert text is not None
    assert text.startswith("80% for a grounded share of ")
    assert least_found({}, generator(0)) is None


def test_partners_bound_what_is_judged() -> None:
    scenes = shown(2, 50)
    traces = [TraceClaims(video(f"v{n}", s), told(s)) for n, s in enumerate(scenes)]
    plan = deals_of(traces, 4)["videos"]
    assert max(map(len, plan.places)) <= 5
    for places in plan.places:
        videos = [sample.key for sample, _ in filter(None, places)]
        assert len(set(videos)) == len(videos)
    again = deals_of(traces, 4)["videos"]
    assert again == plan


def test_moments_are_at_the_same_share_of_another_video() -> None:
    claim = there("cup", 0, 3)
    assert moved_claim(claim, 4, 4) is claim
    assert moved_claim(claim, 4, 8).frames == (1, 7)
    assert moved_claim(claim, 4, 2).frames == (0, 1)
    assert moved_claim(there("cup"), 4, 8).frames is None
    order = Claim(
        kind="temporal", text="", predicate="before", parts=(claim, there("dog", 9))
    )
    assert [part.frames for part in moved_claim(order, 4, 8).parts] == [(1, 7), ()]


def test_what_the_question_names_is_not_held_against_its_video() -> None:
    asked = {"question": "Where are the red cups?", "choices": ("table", "shelf")}
    traces = [
        TraceClaims(
            video("a", [["cup"]], **asked), ((there("red cup"), there("dog")),)
        ),
        TraceClaims(
            video("b", [["dog"]], question="Where are the dogs?"), ((there("cup"),),)
        ),
    ]
    told_words = question_words(traces[:1]) - question_words(traces[1:])
    assert repeats(there("red cup"), told_words)
    assert not repeats(there("blue cup"), told_words)
    plan = deals_of(traces, 1)["videos"]
    held = {
        (claim.subject, sample.key)
        for sample, claim in filter(None, chain.from_iterable(plan.places))
    }
    assert held == {("dog", "a"), ("red cup", "b"), ("cup", "b")}
