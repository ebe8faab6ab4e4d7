"""What learns to do without a cue, what it learned, and a model that answers with it."""

from cuescope_sdk.mitigation._mitigation import (
    Mitigation as Mitigation,
    columns_of as columns_of,
    content as content,
    rescored as rescored,
)
from cuescope_sdk.mitigation._mitigator import (
    Mitigator as Mitigator,
    Task as Task,
    balanced_weights as balanced_weights,
    save as save,
)
from cuescope_sdk.mitigation._routing import (
    Ask as Ask,
    CueRouter as CueRouter,
    FixedRouter as FixedRouter,
    Router as Router,
    centroids as centroids,
    stills_of as stills_of,
)
