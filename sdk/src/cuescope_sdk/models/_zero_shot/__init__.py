"""Zero-shot classification by image-text similarity: what every contrastive model plugin shares."""

from cuescope_sdk.models._zero_shot.model import ZeroShotModel, ZeroShotOptions

__all__ = ["ZeroShotModel", "ZeroShotOptions"]
