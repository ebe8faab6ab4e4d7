"""Whether a wrong video is as good as none: blind answers must not depend on which."""

from collections.abc import Iterator

from cuescope_blind.looking.analysis import sight
from cuescope_blind.looking.trials import QUESTION_ALONE, WRONG_VIDEO
from cuescope_sdk import Audit, Evidence


def evidence(audit: Audit) -> Iterator[Evidence]:
    """A model that is right without the video is right with a wrong one too."""
    seen = audit.once(sight, audit)
    by_key = {result.key: result for result in seen.results}
    alone = by_key.get(QUESTION_ALONE)
    wrong = by_key.get(WRONG_VIDEO)
    if alone is None or wrong is None or not alone.finding:
        return
    low = wrong.gain.low
    high = wrong.gain.high
    verdict = "inconclusive"
    if low is not None and low > 0:
        verdict = "supported"
    elif high is not None and high < audit.options.min_gain:
        verdict = "refuted"
    yield Evidence(
        check="another way to see nothing: the video of another question",
        verdict=verdict,
        detail=f"with it the model is right in {wrong.right.mean():.1%} ({wrong.gain.points} "
        "beside guessing)",
        value=wrong.gain.value,
        threshold=0.0,
        n=len(wrong.right),
        feature=alone.key,
    )
