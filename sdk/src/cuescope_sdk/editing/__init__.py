"""What image editors share: kept pixels, checks of edits, edited images on the disk, a plan."""

from cuescope_sdk.editing._cached_editor import (
    CachedEditor as CachedEditor,
    cached_editor as cached_editor,
)
from cuescope_sdk.editing._edits import (
    LARGEST_SIDE as LARGEST_SIDE,
    SMALLEST_SIDE as SMALLEST_SIDE,
    edit_key as edit_key,
    edited_frame as edited_frame,
    keep_outside as keep_outside,
    require_editable as require_editable,
)
from cuescope_sdk.editing._plan import EditPlan as EditPlan
