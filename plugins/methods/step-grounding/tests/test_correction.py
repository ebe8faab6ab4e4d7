"""What people's labels say of a verifier, taken out of its figure."""

import numpy as np

from cuescope_sdk import Sample
from cuescope_step_grounding.verification.correction import (
    corrected_share,
    supported_share,
)

VERDICTS = np.array(["unsupported", "supported"])


def judge(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A lenient verifier: it finds 90% of the true claims and believes 40% of others."""
    return rng.random(len(truth)) < np.where(truth, 0.9, 0.4)


def test_a_lenient_verifier_is_corrected_by_peoples_labels() -> None:
    rng = np.random.default_rng(0)
    samples = [
        Sample(key=f"v{index}", frames=(), group=f"v{index}") for index in range(300)
    ]
    truth = rng.random(1500) < 0.3
    own = judge(truth, rng)
    claims = [samples[index // 5] for index in range(1500)]
    observed = supported_share(
        list(zip(claims, VERDICTS[own.astype(int)], strict=True)), 0.95
    )
    assert observed is not None
    assert observed.value > 0.5
    labelled = list(
        zip(claims, VERDICTS[own.astype(int)], VERDICTS[truth.astype(int)], strict=True)
    )[:400]
    share = corrected_share(observed, labelled, 0.95)
    assert share is not None
    assert share.low <= 0.3 <= share.high < observed.low
    assert (
        corrected_share(observed, [(*pair[:2], "supported") for pair in labelled], 0.95)
        is None
    )
    undecided = [(sample, "unverifiable") for sample in samples]
    assert supported_share(undecided, 0.95) is None
