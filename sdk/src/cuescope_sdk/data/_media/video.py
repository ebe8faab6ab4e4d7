"""Videos with PyAV: every decodable frame counts, a damaged part does not end the clip."""

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_core.amounts import count_of
from cuescope_sdk.data._media.files import MOST_PIXELS, Measured, require_pixels

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

# A playlist in disguise could make ffmpeg open other files or addresses: containers only.
_CONTAINERS = "mov,mp4,matroska,webm,avi,mpeg,mpegts,mpegvideo,m4v,asf,flv,ogg"
# frames a second, default of `framerate` in ffmpeg's demuxers of raw video (libavformat/rawdec.c)
DEFAULT_RATE = 25
_OPEN = {"format_whitelist": _CONTAINERS, "protocol_whitelist": "file"}


def decode_video(file: BinaryIO, wanted: Set[int]) -> dict[int, Image.Image]:
    """The wanted frames by index, RGB and upright, and the last frame where the clip ends early.

    One pass from the start, so that a frame does not depend on which others were wanted.
    """
    last_wanted = max(wanted)
    images: dict[int, Image.Image] = {}
    index = -1
    frame = None  # outlives the loop: the last decodable frame stands in
    with _open(file) as (container, stream):
        for index, frame in enumerate(_frames(container, stream)):
            if index in wanted:
                images[index] = _upright(frame)
            if index == last_wanted:  # the rest of a long video is not decoded
                return images
        if frame is not None:
            images[index] = _upright(frame)
    return images


def key_picture(file: BinaryIO) -> Image.Image:
    """The last key frame before the middle, upright: little is decoded for it, even of a long film.

    Raises ValueError where no frame can be decoded.
    """
    with _open(file) as (container, stream):
        if container.duration:
            container.seek(container.duration // 2)
        for frame in _frames(container, stream):
            return _upright(frame)
    raise ValueError("no frame can be decoded")


def video_times(file: BinaryIO) -> Float[np.ndarray, " frame"]:
    """When each frame comes on screen, in seconds from the first, without decoding any.

    A stream whose packets bear no times is taken to go at its average rate.
    """
    with _open(file) as (container, stream):
        # the empty packet at the end only flushes
        stamps = [packet.pts for packet in _packets(container, stream) if packet.size]
        return _seconds(stamps, stream)


def measure_video(file: BinaryIO, max_pixels: int) -> Measured:
    """The frames of a file, once its first has been decoded; raises where it cannot be.

    Counts packets rather than trusting the header, which a cut-off file has outlived.
    """
    stamps = []
    first = None
    loss = None
    with _open(file, max_pixels) as (container, stream):
        for packet in _packets(container, stream):
            if packet.size:
                stamps.append(packet.pts)
            if packet.is_corrupt:
                loss = "damaged"
            if first is None:
                first = next(iter(_decode(stream, packet)), None)
        if first is None:
            first = next(iter(_decode(stream, None)), None)
        if first is None:
            raise ValueError("no frame can be decoded")
        require_pixels((first.width, first.height), max_pixels)
        count = len(stamps)
        if stream.frames > count:
            loss = f"cut off: {count:,} of {stream.frames:,} frames"
        elif loss:
            loss += f" near its end, after {count_of(count, 'frames')}"
        return Measured(count, loss, _is_steady(_seconds(stamps, stream)))


def _seconds(
    stamps: Sequence[int | None], stream: "VideoStream"
) -> Float[np.ndarray, " frame"]:
    if None in stamps or stream.time_base is None:
        return np.arange(len(stamps)) / _rate(stream)
    # packets come in decoding order, B-frames late
    times = np.sort(np.array(stamps))
    return np.asarray((times - times[:1]) * float(stream.time_base))


def _is_steady(times: Float[np.ndarray, " frame"]) -> bool:
    """True if no frame comes half a frame earlier or later than at a constant rate."""
    even = np.linspace(0, times[-1], len(times))
    return bool(np.abs(times - even).max() <= even[1:2].sum() / 2)


def _rate(stream: "VideoStream") -> float:
    return float(stream.average_rate or DEFAULT_RATE)


@contextmanager
def open_video(path: Path) -> "Iterator[tuple[InputContainer, VideoStream]]":
    """The container and video stream of a file, within the limits of all that is decoded here.

    Raises ValueError or an error of PyAV where it is no video.
    """
    with path.open("rb") as file, _open(file) as opened:
        yield opened


@contextmanager
def _open(
    file: BinaryIO, max_pixels: int = MOST_PIXELS
) -> "Iterator[tuple[InputContainer, VideoStream]]":
    """The video stream of a file that is open."""
    # here: it comes with an extra (cuescope-sdk[media])
    import av

    # Not `options`: before PyAV 18 they crash the process on formats without a header (FLV, MPEG).
    with av.open(file, "r", container_options=_OPEN) as container:
        if not container.streams.video:
            raise ValueError("no video stream")
        stream = container.streams.video[0]
        codec = stream.codec_context
        require_pixels((codec.width, codec.height), max_pixels)
        stream.thread_type = "AUTO"  # frame threads too: PyAV's default is slices alone
        # pictures may grow within a video: a bomb is refused before it is allocated
        codec.options = {"max_pixels": str(max_pixels)}
        yield container, stream


def _frames(
    container: "InputContainer", stream: "VideoStream"
) -> "Iterator[VideoFrame]":
    for packet in _packets(container, stream):
        yield from _decode(stream, packet)
    # the decoder holds back frames until it is flushed
    yield from _decode(stream, None)


def _packets(
    container: "InputContainer", stream: "VideoStream"
) -> "Iterator[Packet[VideoStream]]":
    """The packets up to the end of the file or the point where it is cut off."""
    import av

    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except (StopIteration, av.FFmpegError):
            return
        yield packet


def _decode(
    stream: "VideoStream", packet: "Packet[VideoStream] | None"
) -> "list[VideoFrame]":
    """The frames that this packet (None: the end) completes; none where it is damaged."""
    import av

    try:
        return stream.codec_context.decode(packet)
    except av.FFmpegError:
        return []  # the next key frame mends the picture


def _upright(frame: "VideoFrame") -> Image.Image:
    image = Image.fromarray(frame.to_ndarray(format="rgb24"))
    # phones film upright by a note in the header
    quarter_turns = round(frame.rotation / 90) % 4
    return image.rotate(90 * quarter_turns, expand=True) if quarter_turns else image
