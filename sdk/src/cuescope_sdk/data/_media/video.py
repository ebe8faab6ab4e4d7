"""Videos with PyAV: every decodable frame counts, a damaged part does not end the clip."""

from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from jaxtyping import Float
from PIL import Image

from cuescope_core.amounts import count_of
from cuescope_sdk.data._media.files import (
    MAX_PIXELS,
    MOST_PIXELS,
    PIXEL_BYTES,
    TOO_MANY_IN_ALL,
    most_clip_pixels,
    require_pixels,
)
from cuescope_sdk.data._media.memory import DECODING

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
_PIXEL_BYTES = 30  # some twenty frames are decoded at a time, or kept to predict others
_LARGEST = MAX_PIXELS * PIXEL_BYTES // _PIXEL_BYTES  # pixels: 8K passes
_BYTE_PIXELS = (
    100_000  # pixels that are decoded for a byte: slides of a lecture have a tenth
)
_LATE = 0.25  # seconds that a clip may end before its header says so


def decode_video(file: BinaryIO, wanted: Set[int]) -> dict[int, Image.Image]:
    """The wanted frames by index, RGB and upright, and the last frame where the clip ends early.

    One pass from the start, so that a frame does not depend on which others were wanted.
    """
    last_wanted = max(wanted)
    images: dict[int, Image.Image] = {}
    index = -1
    frame = None  # outlives the loop: the last decodable frame stands in
    left = most_clip_pixels(file, MOST_PIXELS, _BYTE_PIXELS)
    with _open(file, wanted=len(wanted)) as (container, stream):
        for index, frame in enumerate(_frames(container, stream)):
            # as it goes: frames may grow, which the header does not say
            left -= frame.width * frame.height
            if left < 0:
                raise ValueError("too many pixels in all of its frames")
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
    with _open(file, wanted=1) as (container, stream):
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
        if None in stamps or stream.time_base is None:
            return np.arange(len(stamps)) / _rate(stream)
        # packets come in decoding order, B-frames late
        times = np.sort(np.array(stamps))
        return np.asarray((times - times[:1]) * float(stream.time_base))


def measure_video(file: BinaryIO, max_pixels: int) -> tuple[int, str | None]:
    """How many frames the file holds, once its first has been decoded; raises where it cannot be.

    Counts packets rather than trusting the header, which a cut-off file has outlived. Beside it,
    what is lost by what the header says.
    """
    count = 0
    first = None
    corrupt = False
    times = list[float]()
    most = most_clip_pixels(file, max_pixels, _BYTE_PIXELS)
    with _open(file, max_pixels) as (container, stream):
        for packet in _packets(container, stream):
            count += packet.size > 0
            corrupt |= packet.is_corrupt
            if packet.pts is not None and packet.time_base is not None:
                times += [float(packet.pts * packet.time_base)]
            if first is None:
                first = next(iter(_decode(stream, packet)), None)
        if first is None:
            first = next(iter(_decode(stream, None)), None)
        if first is None:
            raise ValueError("no frame can be decoded")
        require_pixels((first.width, first.height), max_pixels, _PIXEL_BYTES, "a video")
        if count * first.width * first.height > most:
            raise ValueError(TOO_MANY_IN_ALL.format(most=most))
        seconds = max(times) - min(times) + 1 / _rate(stream) if times else None
        loss = _loss(container, stream, count, seconds)
        if loss is None and corrupt:
            loss = f"damaged near its end, after {count_of(count, 'frames')}"
        return count, loss


def _loss(
    container: "InputContainer",
    stream: "VideoStream",
    count: int,
    seconds: float | None,
) -> str | None:
    """Loss of what the header promises and the file has no longer."""
    if stream.frames > count:
        return f"cut off: {count:,} of {stream.frames:,} frames"
    promised = _promised_seconds(container, stream)
    late = max(_LATE, 3 / _rate(stream))
    if (
        seconds is None
        or promised is None
        or stream.frames
        or seconds > promised - late
    ):
        return None
    return (
        f"cut off: {count_of(count, 'frames')}, {seconds:.1f} of {promised:.1f} seconds"
    )


def _promised_seconds(
    container: "InputContainer", stream: "VideoStream"
) -> float | None:
    """How long the video is by its header, None where that says it of sound and video together."""
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    if written := stream.metadata.get("DURATION"):  # Matroska: 00:00:06.000000000
        with suppress(ValueError):
            hours, minutes, seconds = map(float, written.split(":"))
            return hours * 3600 + minutes * 60 + seconds
    alone = len(container.streams) == 1
    return container.duration / 1e6 if alone and container.duration else None


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
    file: BinaryIO,
    max_pixels: int = MOST_PIXELS,
    wanted: int = 0,
) -> "Iterator[tuple[InputContainer, VideoStream]]":
    """The video stream with the memory reserved that it takes, with so many wanted frames of it."""
    # here: it comes with an extra (cuescope-sdk[media])
    import av

    # Not `options`: before PyAV 18 they crash the process on formats without a header (FLV, MPEG).
    with av.open(file, "r", container_options=_OPEN) as container:
        if not container.streams.video:
            raise ValueError("no video stream")
        stream = container.streams.video[0]
        size = (stream.codec_context.width, stream.codec_context.height)
        require_pixels(size, max_pixels, _PIXEL_BYTES, "a video")
        stream.thread_type = "AUTO"  # frame threads too: PyAV's default is slices alone
        # pictures may grow within a video: a bomb is refused before it is allocated
        largest = max(_LARGEST, size[0] * size[1])
        stream.codec_context.options = {"max_pixels": str(largest)}
        with DECODING.hold(size[0] * size[1] * (_PIXEL_BYTES + 3 * wanted)):
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
