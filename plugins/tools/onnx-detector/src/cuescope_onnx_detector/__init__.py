"""A detector that runs a YOLO exported to ONNX."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cuescope_onnx_detector.options import OWNER, OnnxOptions
from cuescope_sdk import (
    Context,
    Detection,
    Frame,
    LazyWeights,
    Plugin,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.tools import make_detections, normalise_name

if TYPE_CHECKING:
    from cuescope_onnx_detector.network import OnnxNetwork


class OnnxDetector(Plugin, LazyWeights):
    """Finds the things that its network was trained on or exported with; `names` are they."""

    Options = OnnxOptions
    options: OnnxOptions

    def __init__(self, options: OnnxOptions, context: Context) -> None:
        super().__init__(options, context)
        files = [self._file(options.model, ".onnx")]
        if options.names is not None:
            files.append(self._file(options.names, ".txt"))
        # of contents: another file may come under the same name
        contents = [digest(file.read_bytes()) for file in files]
        limits = (options.threshold, options.overlap)
        self.fingerprint = digest(OWNER, 1, contents, limits)
        self.facts: Mapping[str, str] = {
            "weights": files[0].name,
            "threshold": f"{options.threshold:g}",
        }

    @property
    def names(self) -> frozenset[str]:
        """The closed list of names; opens the network."""
        return frozenset(self._columns)

    def open_weights(self) -> None:
        _ = self._network

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """Detections of any of the names, a tuple a frame, best first; raises UserError for ''."""
        known = {}  # the names that are among its classes, and their columns
        for name in names:
            normal = normalise_name(name)
            if normal in self._columns:
                known[name] = self._columns[normal]
        if not known:  # what is none of its classes needs no pass
            return [()] * len(frames)
        columns = list(known.values())
        options = self.options
        by_frame = []
        for frame in frames:
            image = frame.load()
            scores, boxes = self._network.detect(image)
            detections = make_detections(
                list(known),
                scores[:, columns],
                boxes,
                image.size,
                options.threshold,
                options.overlap,
            )
            by_frame.append(detections)
        return by_frame

    @cached_property
    def _network(self) -> "OnnxNetwork":
        from cuescope_onnx_detector.network import OnnxNetwork

        return OnnxNetwork(self.options, self.context)

    @cached_property
    def _columns(self) -> dict[str, int]:
        names = map(normalise_name, self._network.names)
        return {name: column for column, name in enumerate(names)}

    def _file(self, path: Path, suffix: str) -> Path:
        file = path.expanduser()
        if not file.is_file():
            others = [other.name for other in file.parent.glob(f"*{suffix}")]
            raise UserError(
                f"{OWNER}: no such file '{path}'",
                expected=f"a {suffix} file",
                remedy=nearest(file.name, others),
            )
        return file


__all__ = ["OnnxDetector", "OnnxOptions"]
