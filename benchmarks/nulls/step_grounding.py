"""Blind reasoning traces, planted grounding, and the law under its null: how often each is found.

    python benchmarks/nulls/step_grounding.py --audits 1000

No model is asked: traces are made of shape-world's annotated scenes, claims are judged by these
scenes, and the verdict is the method's own. A blind trace that "fits its own video" is a false
alarm; at p <= 0.001 one of a thousand is expected of a test that uses its whole level.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cuescope_sdk import Context, Sample, generator
from cuescope_sdk.grounding import SCENE, Case, Claim, Judgement, SceneVerifier
from cuescope_sdk.statistics import Groups, mean_interval
from cuescope_shape_world import ShapeWorld, ShapeWorldOptions
from cuescope_shape_world.scripted import Scripted, ScriptedOptions, script
from cuescope_step_grounding.claims import Clock, parser, read_steps
from cuescope_step_grounding.law.law import MeasuredModel, law
from cuescope_step_grounding.scores import StepCounts, step_grounding_rate
from cuescope_step_grounding.trials import Claims
from cuescope_step_grounding.verification.judged import judge_claims
from cuescope_step_grounding.verification.strata import TraceClaims, by_group, strata
from cuescope_step_grounding.verification.swaps import plans
from cuescope_step_grounding.verification.verdict import FITS, Verdict, verdict

POOL, PARTNERS, MARGIN = 300, 10, 0.05
CLIPS = ((0, 5), (5, 10), (10, 16))  # frames of the clips of one source
OPENERS = (
    "The footage opens on",
    "A moment later one notices",
    "In the background stands",
)


class RememberedScenes:
    """The annotated scenes; what was judged once is not judged again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Claim], Judgement] = {}

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """The judgements of these claims."""
        new = [
            (
                sample,
                [claim for claim in claims if (sample.key, claim) not in self._known],
            )
            for sample, claims in cases
        ]
        for (sample, claims), judgements in zip(
            new, SceneVerifier().judge(new), strict=True
        ):
            self._known |= {
                (sample.key, claim): judgement
                for claim, judgement in zip(claims, judgements, strict=True)
            }
        return [
            [self._known[sample.key, claim] for claim in claims]
            for sample, claims in cases
        ]


SCENES = RememberedScenes()


def audit_verdict(traces: Sequence[TraceClaims], seed: int) -> Verdict:
    """The verdict on these traces, as an audit gives it."""
    rng = partial(generator, seed)
    deals = plans(strata(by_group(traces), PARTNERS), {})
    cases = [case for plan in deals.values() for case in plan.cases()]
    judgements = judge_claims(SCENES, cases)
    swaps = {
        deal: held
        for deal, plan in deals.items()
        if (held := plan.swaps(judgements.of))
    }
    own = [
        j.verdict for t in traces for j in SCENES.judge([(t.sample, flat(t.claims))])[0]
    ]
    decided = sum(word != "unverifiable" for word in own) / max(len(own), 1)
    return verdict(swaps, decided, rng, margin=MARGIN, level=0.05)


def flat(claims: Claims) -> list[Claim]:
    return [claim for step in claims for claim in step]


# --------------------------------------------------------------------------------------- traces


class Pool:
    """Videos, and what reasoners with different dials say of each."""

    def __init__(self, videos: int) -> None:
        data = ShapeWorld(ShapeWorldOptions(val=videos), Context(device="cpu"))
        self.samples = [data[index] for index in range(videos)]
        self._traces: dict[object, list[Claims]] = {}
        self.true = self.grounded(1.0)
        self.steps = [step for trace in self.true for step in trace]
        count = Counter(
            step for step in self.steps if len(step) == 1 and step[0].kind == "entity"
        )
        self.common = [step for step, _ in count.most_common(7)]

    def grounded(self, share: float) -> list[Claims]:
        """Traces of which this share of claims is true."""
        if share not in self._traces:
            dials = ScriptedOptions(grounding=share)
            self._traces[share] = [
                claims_of(
                    script(
                        s.annotations[SCENE], s.question or "", dials, rng_of(s, share)
                    )
                )
                for s in self.samples
            ]
        return self._traces[share]

    def guessed(self) -> list[Claims]:
        """Traces of a reasoner that reads the question, and never opens the video."""
        if "guessed" not in self._traces:
            model = Scripted(
                ScriptedOptions(reliance="question"), Context(device="cpu")
            )
            self._traces["guessed"] = [
                claims_of(model.reason(s)[0]) for s in self.samples
            ]
        return self._traces["guessed"]


def claims_of(steps: Iterable[object]) -> Claims:
    """Of scripted steps, without their words, so that equal claims are judged once."""
    return tuple(
        tuple(c.model_copy(update={"text": ""}) for c in step.claims)  # type: ignore[attr-defined]
        for step in steps
    )


def rng_of(sample: Sample, share: float) -> np.random.Generator:
    return generator(0, "nulls", sample.key, f"{share}")


Draw = Callable[[Pool, Sequence[int], np.random.Generator], list[TraceClaims]]


def constant(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """One true trace of one video, for all."""
    text = pool.true[int(rng.integers(len(pool.true)))]
    return [TraceClaims(pool.samples[index], text) for index in chosen]


def common(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """One text of the things that are said most, for all."""
    return [TraceClaims(pool.samples[index], tuple(pool.common)) for index in chosen]


def frequent(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """Steps drawn as often as they are true."""
    return [
        TraceClaims(pool.samples[i], tuple(pool.steps[int(n)] for n in draw))
        for i, draw in zip(
            chosen, rng.integers(len(pool.steps), size=(len(chosen), 7)), strict=True
        )
    ]


def others(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """Each video's true trace, told of another."""
    return [
        TraceClaims(pool.samples[index], pool.true[other])
        for index, other in zip(chosen, np.roll(chosen, 1).tolist(), strict=True)
    ]


def question(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """Made up from the question, which names shapes of the video."""
    return [TraceClaims(pool.samples[index], pool.guessed()[index]) for index in chosen]


def prose(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """Things drawn by frequency, told in long prose without moments, and read by the parser."""
    reader = parser()
    things = [
        c.subject
        for step in pool.steps
        for c in step
        if c.kind == "entity" and not c.negated
    ]
    traces = []
    for index in chosen:
        sample, steps = pool.samples[index], []
        for _ in range(5):
            names = [things[int(n)] for n in rng.integers(len(things), size=2)]
            steps.append(
                f"{OPENERS[int(rng.integers(3))]} a {names[0]}, and there is a {names[1]}."
            )
        clock = Clock(len(sample.frames), None)
        claims = tuple(read_steps(reader, steps, clock))
        traces.append(TraceClaims(sample, claims))
    return traces


def moments(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """The video's own true steps, each told of another step's moment."""
    return [TraceClaims(pool.samples[i], turned(pool.true[i], rng)) for i in chosen]


def turned(trace: Claims, rng: np.random.Generator) -> Claims:
    frames = [step[0].frames for step in trace]
    shift = int(rng.integers(1, max(len(trace), 2)))
    return tuple(
        tuple(
            c.model_copy(update={"frames": frames[(n + shift) % len(trace)]})
            for c in step
        )
        for n, step in enumerate(trace)
    )


def clips(
    pool: Pool, chosen: Sequence[int], rng: np.random.Generator, right: bool = False
) -> list[TraceClaims]:
    """Three clips of each source; each with the true trace of another clip, or its own."""
    traces = []
    for index in chosen:
        source = pool.samples[index]
        parts = [
            replace(
                source,
                key=f"{source.key}-{low}",
                question=None,
                choices=(),
                label=None,
                group=source.key,
                frames=source.frames[low:high],
                annotations={SCENE: source.annotations[SCENE][low:high]},
            )
            for low, high in CLIPS
        ]
        dials = ScriptedOptions(steps=4)
        told = [
            claims_of(script(p.annotations[SCENE], "", dials, rng_of(p, 1)))
            for p in parts
        ]
        shift = 0 if right else int(rng.integers(1, len(parts)))
        traces += [
            TraceClaims(p, told[(n + shift) % len(parts)]) for n, p in enumerate(parts)
        ]
    return traces


def planted(
    share: float, pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """So large a share of the claims is true; all others name what the video never shows."""
    return [TraceClaims(pool.samples[i], pool.grounded(share)[i]) for i in chosen]


def untimed(
    share: float, pool: Pool, chosen: Sequence[int], rng: np.random.Generator
) -> list[TraceClaims]:
    """The same without moments."""
    return [
        replace(
            trace, claims=tuple(tuple(map(timeless, step)) for step in trace.claims)
        )
        for trace in planted(share, pool, chosen, rng)
    ]


def timeless(claim: Claim) -> Claim:
    return claim.model_copy(update={"frames": None})


BLIND: dict[str, Draw] = {
    "one constant text": constant,
    "one text of common things": common,
    "drawn by frequency": frequent,
    "true of other videos": others,
    "from the question alone": question,
    "by frequency, in prose": prose,
    "own steps at other moments": moments,
    "true of other clips of the source": clips,
}
GROUNDED: dict[str, Draw] = {
    "planted 0.2": partial(planted, 0.2),
    "planted 0.3": partial(planted, 0.3),
    "planted 0.6": partial(planted, 0.6),
    "planted 1.0": partial(planted, 1.0),
    "planted 0.3, no moments": partial(untimed, 0.3),
    "planted 0.6, no moments": partial(untimed, 0.6),
    "true of its own clip": partial(clips, right=True),
}


def found(pool: Pool, draw: Draw, videos: int, audits: int) -> Counter[str]:
    """How often each verdict comes."""
    words: Counter[str] = Counter()
    for seed in range(audits):
        rng = generator(seed, "nulls", "draw")
        chosen = rng.choice(len(pool.samples), videos, replace=False).tolist()
        words[audit_verdict(draw(pool, chosen, rng), seed).word] += 1
    return words


# ------------------------------------------------------------------------------------------ the law


def population(seed: int, shared: float, models: int = 8) -> list[MeasuredModel]:
    """Models on three benchmarks; grounding and what is kept have nothing to do with each other."""
    rng = generator(seed, "nulls", "law")
    grounded, robust = rng.normal(size=(2, models))
    accuracy = rng.uniform(0.5, 0.8, models)
    rows = []
    for number, benchmark in enumerate(("STAR", "R2R", "TEACh")):
        own = rng.normal(size=(2, models))
        sgr = (
            0.55
            - 0.05 * number
            + 0.08 * (shared**0.5 * grounded + (1 - shared) ** 0.5 * own[0])
        )
        kept = (
            0.8
            - 0.02 * number
            + 0.05 * (shared**0.5 * robust + (1 - shared) ** 0.5 * own[1])
        )
        rows += [
            MeasuredModel(f"m{i}", float(s), float(a), float(a * k), "", benchmark)
            for i, (s, a, k) in enumerate(zip(sgr, accuracy, kept, strict=True))
        ]
    return rows


def law_alarms(audits: int, shared: float) -> tuple[int, int]:
    """How often the law is found, and how often its test alone says p <= 0.05."""
    laws = [
        law(population(s, shared), generator(s, "law"), draws=999)
        for s in range(audits)
    ]
    tests = sum(
        result.plain is not None and result.plain.p_value <= 0.05 for result in laws
    )
    return sum(result.holds for result in laws), tests


# ------------------------------------------------------------------------------------- intervals


def covered(pool: Pool, samples: int, audits: int) -> float:
    """How often the interval of SGR holds the pool's."""
    counts = [
        [
            StepCounts(
                *(
                    sum(j.verdict == word for j in of_step)
                    for word in ("supported", "unsupported")
                )
            )
            for of_step in SCENES.judge([(sample, step) for step in trace])
        ]
        for sample, trace in zip(pool.samples, pool.grounded(0.6), strict=True)
    ]
    rates = np.array([step_grounding_rate(of_trace) or 0.0 for of_trace in counts])
    hits = 0
    for seed in range(audits):
        rng = generator(seed, "nulls", "intervals")
        drawn = rates[rng.integers(len(rates), size=samples)]
        low, high = mean_interval(drawn, Groups.single(samples))
        hits += low is not None and high is not None and low <= rates.mean() <= high
    return hits / audits


def show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Prints the tables."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--audits", type=int, default=1000)
    arguments.add_argument("--videos", type=int, nargs="*", default=[12, 40])
    arguments.add_argument(
        "--only", default="", help="a regular expression over the rows"
    )
    arguments.add_argument(
        "--pool", type=int, default=POOL, help="videos that audits draw from"
    )
    options = arguments.parse_args()
    pool = Pool(options.pool)
    for title, rows in (("blind", BLIND), ("grounded", GROUNDED)):
        for name, draw in rows.items():
            if not re.search(options.only, name):
                continue
            for videos in options.videos:
                words = found(pool, draw, videos, options.audits)
                others = ", ".join(
                    f"{word} {n}" for word, n in sorted(words.items()) if word != FITS
                )
                show(
                    f"{title:9}{name:36}{videos:4} videos: {FITS} in {words[FITS]} of "
                    f"{options.audits} ({others})"
                )
    if re.search(options.only, "law"):
        for shared in (0.0, 0.5, 0.8, 0.95):
            holds, tests = law_alarms(options.audits, shared)
            show(
                f"law, no link, {shared:4} of it the model's: found {holds}, p <= 0.05 {tests}"
            )
    if re.search(options.only, "intervals"):
        for samples in (3, 5, 10, 20, 40):
            hits = covered(pool, samples, options.audits)
            show(f"SGR of {samples:2}: interval covers {hits:.3f}")


if __name__ == "__main__":
    main()
