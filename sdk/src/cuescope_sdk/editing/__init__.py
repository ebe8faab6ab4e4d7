"""What image editors share: kept pixels, checks of edits, edited images on the disk, a plan."""

from cuescope_sdk.editing._cached_editor import cached_editor
from cuescope_sdk.editing._edits import edited_frame, keep_outside, require_editable

__all__ = ["cached_editor", "edited_frame", "keep_outside", "require_editable"]
