"""Pictures that a log holds or names: data URIs, and files in its own folder. None is fetched."""

import base64
import binascii
import warnings
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path

from PIL import ExifTags, Image

from cuescope_sdk import BadDataError, Frame, UserError, digest, inside
from cuescope_sdk.data import to_rgb
from cuescope_sdk.logs import Record

# few: each decoder is one more that a stranger's file can attack
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp"}


class Pictures:
    """The pictures beside a log; what leads out of its folder, or into the net, is none."""

    def __init__(self, file: Path) -> None:
        path = file.expanduser()
        self.folder = path if path.is_dir() else path.parent
        self.turned: set[str] = set()

    def frames(self, record: Record) -> tuple[Frame, ...]:
        """The frames of a record; () where one of its pictures is not here."""
        frames = []
        for name in record.images:
            find = self._from_uri if name.startswith("data:") else self._file
            frame = find(name)
            if frame is None:
                # a question about two pictures is another one about one of them
                return ()
            frames.append(frame)
        return tuple(frames)

    def _from_uri(self, uri: str) -> Frame | None:
        head, comma, body = uri.partition(",")
        is_picture_uri = head.startswith("data:image/") and "base64" in head
        if not comma or not is_picture_uri:
            return None
        try:
            content = base64.b64decode(body, validate=True)
        # letters beyond ASCII raise the second
        except (binascii.Error, ValueError):
            return None
        if not is_picture(content):
            return None
        if is_turned(content):
            self.turned.add(digest(content))
        # of the bytes and of how they are shown: answers to pixels of another door are not these
        return Frame(digest("upright", content), partial(open_picture, content))

    def _file(self, name: str) -> Frame | None:
        # an address is no path, and is not fetched
        if "://" in name or Path(name).suffix.lower() not in SUFFIXES:
            return None
        try:
            path = inside(self.folder, name)
            return Frame.from_file(path) if path.is_file() else None
        # it leads out of the folder, the name is too long, or it has a null byte
        except (UserError, OSError, ValueError):
            return None


def is_picture(content: bytes) -> bool:
    """True if bytes are a picture of a size that can be shown; its pixels are not decoded."""
    try:
        with warnings.catch_warnings():
            # Pillow only warns of a bomb, up to twice its limit
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(BytesIO(content), formats=FORMATS):
                return True
    # decoders of strangers' bytes raise anything at all
    except Exception:
        return False


def is_turned(content: bytes) -> bool:
    """True if the picture's EXIF says that it is not stored as it is to be shown."""
    # broken EXIF raises anything, and says nothing
    with (
        suppress(Exception),
        Image.open(BytesIO(content), formats=FORMATS) as image,
    ):
        return bool(image.getexif().get(ExifTags.Base.Orientation, 1) != 1)
    return False


def open_picture(content: bytes) -> Image.Image:
    """The picture as a person sees it; raises BadDataError where it is damaged."""
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as image:
            return to_rgb(image)
    # as in `is_picture`
    except Exception as error:
        raise BadDataError("a picture of the log cannot be decoded") from error
