"""Features of frames, computed once for each distinct frame."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Context, Frame
from cuescope_toy.encoders import Encoder

KEPT = 2**26  # bytes of features that are remembered: 65,536 frames of built-in ones


class FrameFeatures:
    """Features by frame key: a frame is encoded once, however often it is shown."""

    def __init__(self, encoder: Encoder, context: Context) -> None:
        self.encoder = encoder
        self._context = context
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()

    def of_clips(self, clips: Sequence[Sequence[Frame]]) -> Float[np.ndarray, "clip frame feature"]:
        """Features of clips of one length."""
        distinct = {frame.key: frame for clip in clips for frame in clip}
        row = {key: index for index, key in enumerate(distinct)}
        features = self.of_frames(tuple(distinct.values()))
        index = [[row[frame.key] for frame in clip] for clip in clips]
        return np.asarray(features[np.array(index)])

    def of_frames(
        self, frames: Sequence[Frame], description: str | None = None
    ) -> Float[np.ndarray, "frame ..."]:
        """Features of distinct frames; with a description, under a progress bar."""
        found = {frame.key: self._kept[frame.key] for frame in frames if frame.key in self._kept}
        missing = [frame for frame in frames if frame.key not in found]
        for batch, rows in self._encoded(missing, description):
            found |= dict(zip((frame.key for frame in batch), rows, strict=True))
        self._keep(found)
        return np.stack([found[frame.key] for frame in frames])

    def _encoded(
        self, frames: Sequence[Frame], description: str | None
    ) -> Iterator[tuple[Sequence[Frame], np.ndarray]]:
        step = self._context.batch_size
        batches = [frames[start : start + step] for start in range(0, len(frames), step)]
        if description is None:
            yield from ((batch, self.encoder.encode(batch)) for batch in batches)
            return
        with self._context.progress(description, len(frames)) as advance:
            for batch in batches:
                yield batch, self.encoder.encode(batch)
                advance(len(batch))

    def _keep(self, found: dict[str, np.ndarray]) -> None:
        for key, row in found.items():
            self._kept[key] = row
            self._kept.move_to_end(key)
        most = KEPT // max((row.nbytes for row in found.values()), default=1)
        while len(self._kept) > most:
            self._kept.popitem(last=False)
