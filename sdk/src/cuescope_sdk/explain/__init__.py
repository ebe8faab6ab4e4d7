"""What explainers of image-text models share: what the network sees, and how faithful a map is."""

from cuescope_sdk.explain._canvas import (
    Explainer as Explainer,
    canvas_masks as canvas_masks,
    canvas_samples as canvas_samples,
    foreground_of as foreground_of,
    single_frame as single_frame,
)
from cuescope_sdk.explain._curves import (
    auc as auc,
    classification_curves as classification_curves,
    paired_difference as paired_difference,
    retrieval_curves as retrieval_curves,
)
from cuescope_sdk.explain._evidence import (
    faithfulness_trials as faithfulness_trials,
    measure_faithfulness as measure_faithfulness,
)
from cuescope_sdk.explain._perturbation import (
    DIRECTIONS as DIRECTIONS,
    Direction as Direction,
    Schedule as Schedule,
)
