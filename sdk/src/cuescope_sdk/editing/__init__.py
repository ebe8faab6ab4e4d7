"""What image editors share: kept pixels, checks of edits, edited images on the disk, a plan."""

from cuescope_sdk.editing._cached_editor import CachedEditor, cached_editor
from cuescope_sdk.editing._edits import EditableImage

__all__ = ["CachedEditor", "EditableImage", "cached_editor"]
