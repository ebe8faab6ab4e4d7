"""The pixels are those a person sees: upright, opaque, eight bits; clips are decoded once."""

from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image

import cuescope_sdk.data._media.frames
from cuescope_sdk.data._media.frames import Clip, load_clip_frame
from cuescope_sdk.data._media.images import decode_image
from cuescope_sdk.data._media.survey import probe
from cuescope_sdk.data._media.video import decode_video


def load_image(path: Path) -> Image.Image:
    return decode_image(BytesIO(path.read_bytes()))


def test_exif_turns_the_image(tmp_path):
    image = Image.new("RGB", (20, 10), "black")
    image.paste((255, 255, 255), (0, 0, 10, 10))
    exif = Image.Exif()
    # to be shown turned a quarter clockwise: the left half comes on top
    exif[0x0112] = 6
    image.save(tmp_path / "a.png", exif=exif)
    pixels = np.asarray(load_image(tmp_path / "a.png"))
    assert pixels.shape == (20, 10, 3)
    assert pixels[:10].min() == 255
    assert pixels[10:].max() == 0


def test_transparency_is_over_white(tmp_path):
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    image.putpixel((1, 2), (10, 20, 30, 255))
    image.save(tmp_path / "a.png")
    palette = image.quantize(4)
    palette.save(tmp_path / "b.png", transparency=bytes([0, 255, 255, 255]))
    pixels = np.asarray(load_image(tmp_path / "a.png"))
    assert pixels[2, 1].tolist() == [10, 20, 30]
    assert pixels[0, 0].tolist() == [255, 255, 255]
    assert load_image(tmp_path / "b.png").mode == "RGB"


def test_sixteen_bits_keep_their_shades(tmp_path):
    shades = np.array([[0, 0x1000, 0x8000, 0xFFFF]], np.uint16)
    Image.fromarray(shades).save(tmp_path / "a.png")
    assert np.asarray(load_image(tmp_path / "a.png"))[0, :, 0].tolist() == [
        0,
        0x10,
        0x80,
        0xFF,
    ]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "CMYK", "I", "F"])
def test_every_mode_becomes_rgb(tmp_path, mode):
    Image.new("L", (3, 2), 255).convert(mode).save(tmp_path / "a.tiff")
    pixels = np.asarray(load_image(tmp_path / "a.tiff"))
    assert pixels.shape == (2, 3, 3)
    assert pixels.min() >= 250


@pytest.mark.skipif(
    not hasattr(av.VideoStream, "set_display_rotation"),
    reason="needs PyAV 18 to write a rotation",
)
def test_rotated_videos_stand_upright(tmp_path):
    path = tmp_path / "a.mp4"
    pixels = np.zeros((32, 64, 3), np.uint8)
    pixels[:, :32] = 255
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 32, "yuv420p"
        # counter-clockwise: the left half comes to the bottom
        stream.set_display_rotation(90)
        container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    shown = np.asarray(decode_video(BytesIO(path.read_bytes()), {0})[0])
    assert shown.shape == (64, 32, 3)
    assert shown[36:].mean() > 200
    assert shown[:28].mean() < 50


def test_one_pass_gives_all_frames_of_a_clip(tmp_path, monkeypatch):
    path = MediaFile.video(tmp_path / "a.mp4", 8)
    passes = []
    decode = cuescope_sdk.data._media.frames.decode_video

    def counted(file, wanted):
        passes.append(file)
        return decode(file, wanted)

    monkeypatch.setattr(cuescope_sdk.data._media.frames, "decode_video", counted)
    clip = Clip(path, probe(path, 10**6).digest, (1, 3, 5, 7))
    for position in (0, 1, 2, 3, 0, 2):
        load_clip_frame(clip, position)
    assert len(passes) == 1


def test_the_last_frame_stands_in_where_a_clip_ends_early(tmp_path):
    path = MediaFile.video(tmp_path / "a.mp4", 6)
    clip = Clip(path, probe(path, 10**6).digest, (1, 4, 9, 12))
    with pytest.warns(UserWarning, match=r"a\.mp4: 2 of 4 frames cannot be decoded"):
        load_clip_frame(clip, 0)
    shown = [
        np.asarray(load_clip_frame(clip, position)).mean() / MediaFile.STEP
        for position in range(4)
    ]
    assert np.allclose(shown, [1, 4, 5, 5], atol=0.2)
