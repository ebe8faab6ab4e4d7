"""Shared parts of image editors: kept pixels, checks of edits, a cache of images, a plan."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_sdk.editing._cached_editor import (
        CachedEditor as CachedEditor,
        cached_editor as cached_editor,
    )
    from cuescope_sdk.editing._edits import (
        EditableImage as EditableImage,
        keep_outside as keep_outside,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "._cached_editor": ["CachedEditor", "cached_editor"],
        "._edits": ["EditableImage", "keep_outside"],
    },
)
