"""Checks of what CCI found: the answer sheet, deletion and insertion; and the pictures."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cuescope_cci.sources import Source
from cuescope_sdk import Audit, Evidence, Picture, Sample, Verdict
from cuescope_sdk.explain import measure_faithfulness
from cuescope_sdk.maths import exceeds_rate_p_value

if TYPE_CHECKING:
    from cuescope_cci import CCI

AGREEMENT = 0.9
FEWEST_ERRORS = 5
SIGNIFICANT = 0.05


def evidence(audit: Audit, method: "CCI") -> Iterator[Evidence]:
    """The planted truth where the data has an answer sheet, then faithfulness."""
    found = method.sources(audit)
    if (planted := check_planted(audit.samples, found)) is not None:
        yield planted
    steps, images = method.options.steps, method.options.faithfulness
    yield from measure_faithfulness(audit, method, "CCI", images=images, steps=steps)
    show_examples(audit, found, method.options.pictures)


def check_planted(samples: Sequence[Sample], found: Sequence[Source]) -> Evidence | None:
    """Whether errors are called background errors exactly where the planted background misled.

    The answer sheet says "background of LABEL" for the label that a background was planted for: it
    misled where that label is the wrong answer. Where it did so no more often than chance would
    have it, nothing is decided. None without such a sheet, or without errors.
    """
    sheet = {sample.key: sample.annotations.get("cues", {}) for sample in samples}
    wrong = [
        one
        for one in found
        if one.wrong and one.region and f"background of {one.prediction}" in sheet[one.key]
    ]
    if not wrong:
        return None
    planted = [any(sheet[one.key][f"background of {one.prediction}"]) for one in wrong]
    called = [one.region == "background" for one in wrong]
    agreement = float(np.mean(np.equal(planted, called)))
    chance = float(np.mean([1 / len(one.answered.sample.choices) for one in wrong]))
    misleads = exceeds_rate_p_value(sum(planted), len(wrong), chance) < SIGNIFICANT
    undecided = len(wrong) < FEWEST_ERRORS or not misleads
    verdict: Verdict = "supported" if agreement >= AGREEMENT else "refuted"
    return Evidence(
        check="planted background",
        verdict="inconclusive" if undecided else verdict,
        detail=f"of {len(wrong)} errors the planted background misled {sum(planted)} "
        f"({'more' if misleads else 'no more'} than chance); cci says background for "
        f"{sum(called)}, and agrees on {agreement:.0%}",
        value=agreement,
        threshold=AGREEMENT,
        n=len(wrong),
    )


def show_examples(audit: Audit, found: Sequence[Source], most: int) -> None:
    """Pictures of background errors, fine-grained errors and right answers."""
    from cuescope_sdk.report import PanelRow, image_panels

    wrong = [one for one in found if one.wrong]
    background = sorted(
        (one for one in wrong if one.region == "background"),
        key=lambda one: (-one.background_share, one.key),
    )
    kinds = {
        "Wrong answers that came from the background": background,
        "Wrong answers that looked at an object and named its look-alike": [
            one for one in wrong if one.fine_grained
        ],
        "Other wrong answers": [
            one for one in wrong if one.region != "background" and not one.fine_grained
        ],
        "Right answers": [one for one in found if one.correct],
        "Images without a label": [one for one in found if one.label is None],
    }
    for title, group in kinds.items():
        if shown := group[:most]:
            rows = [
                PanelRow(
                    caption=in_words(one),
                    image=np.asarray(one.answered.sample.frames[0].load()),
                    clusters=one.answered.look.cluster,
                    heat=one.importance,
                    mask=one.foreground,
                )
                for one in shown
            ]
            captions = "; ".join(in_words(one) for one in shown)
            audit.attach(Picture(title=title, caption=f"{captions}.", image=image_panels(rows)))


def in_words(one: Source) -> str:
    """What happened to an image, in a few words."""
    looks = {"foreground": ", looks at an object", "background": ", looks at the background"}
    where = looks.get(one.region or "", "")
    if one.label is None:
        return f"taken for '{one.prediction}'{where}"
    if one.correct:
        return f"'{one.label}', rightly{where}"
    return f"'{one.label}' taken for '{one.prediction}'{where}"
