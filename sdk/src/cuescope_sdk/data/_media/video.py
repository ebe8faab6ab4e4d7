"""Videos with PyAV: every decodable frame counts, a damaged part does not end the clip."""

from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_sdk.data._media.files import MAX_PIXELS, require_pixels

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

# A playlist in disguise could make ffmpeg open other files or addresses: containers only.
_CONTAINERS = "mov,mp4,matroska,webm,avi,mpeg,mpegts,mpegvideo,m4v,asf,flv,ogg"
DEFAULT_RATE = 25  # frames a second, of raw streams that name no rate
_OPEN = {"format_whitelist": _CONTAINERS, "protocol_whitelist": "file"}


def decode_video(path: Path, wanted: Set[int]) -> dict[int, Image.Image]:
    """The wanted frames by index, RGB and upright, and the last frame where the clip ends early.

    One pass from the start, so that a frame does not depend on which others were wanted.
    """
    last_wanted = max(wanted)
    images: dict[int, Image.Image] = {}
    index, frame = -1, None  # they outlive the loop: the last decodable frame stands in
    with _opened(path) as (container, stream):
        for index, frame in enumerate(_frames(container, stream)):
            if index in wanted:
                images[index] = _upright(frame)
            if index == last_wanted:  # the rest of a long video is not decoded
                return images
        if frame is not None:
            images[index] = _upright(frame)
    return images


def video_times(path: Path) -> Float[np.ndarray, " frame"]:
    """When each frame comes on screen, in seconds from the first, without decoding any.

    A stream whose packets bear no times is taken to go at its average rate.
    """
    with _opened(path) as (container, stream):
        # the empty packet at the end only flushes
        stamps = [packet.pts for packet in _packets(container, stream) if packet.size]
        # packets come in decoding order, B-frames late
        known = sorted(stamp for stamp in stamps if stamp is not None)
        if len(known) == len(stamps) and stream.time_base is not None:
            return (np.array(known) - known[0]) * float(stream.time_base)
        return np.arange(len(stamps)) / float(stream.average_rate or DEFAULT_RATE)


def measure_video(path: Path, max_pixels: int) -> int:
    """How many frames the file holds, once its first has been decoded; raises where it cannot be.

    Counts packets rather than trusting the header, which a cut-off file has outlived.
    """
    count, first = 0, None
    with _opened(path) as (container, stream):
        for packet in _packets(container, stream):
            count += packet.size > 0
            if first is None:
                first = next(iter(_decoded(stream, packet)), None)
    if first is None:
        raise ValueError("no frame can be decoded")
    require_pixels((first.width, first.height), max_pixels)
    return count


@contextmanager
def _opened(path: Path) -> "Iterator[tuple[InputContainer, VideoStream]]":
    import av

    # Not `options`: before PyAV 18 they crash the process on formats without a header (FLV, MPEG).
    with av.open(str(path), container_options=_OPEN) as container:
        if not container.streams.video:
            raise ValueError("no video stream")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"  # frame threads too: PyAV's default is slices alone
        # a bomb is refused before it is allocated
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
        yield container, stream


def _frames(container: "InputContainer", stream: "VideoStream") -> "Iterator[VideoFrame]":
    for packet in _packets(container, stream):
        yield from _decoded(stream, packet)
    yield from _decoded(stream, None)  # the decoder holds back frames until it is flushed


def _packets(container: "InputContainer", stream: "VideoStream") -> "Iterator[Packet[VideoStream]]":
    """The packets up to the end of the file or the point where it is cut off."""
    import av

    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except (StopIteration, av.FFmpegError):
            return
        yield packet


def _decoded(stream: "VideoStream", packet: "Packet[VideoStream] | None") -> "list[VideoFrame]":
    """The frames that this packet (None: the end) completes; none where it is damaged."""
    import av

    try:
        return stream.codec_context.decode(packet)
    except av.FFmpegError:
        return []  # the next key frame mends the picture


def _upright(frame: "VideoFrame") -> Image.Image:
    image = Image.fromarray(frame.to_ndarray(format="rgb24"))
    quarter_turns = round(frame.rotation / 90) % 4  # phones film upright by a note in the header
    return image.rotate(90 * quarter_turns, expand=True) if quarter_turns else image
