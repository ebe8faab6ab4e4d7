"""Images and videos that came as bytes (in a table, in a tar file), kept as files by content."""

from io import BytesIO
from pathlib import Path, PurePosixPath

from PIL import Image

from cuescope.whole_files import Draft
from cuescope_sdk.data._media.content import content_digest
from cuescope_sdk.data._media.files import kind_of
from cuescope_sdk.data._media.images import image_formats

SUFFIXES = {
    "JPEG": ".jpg",
    "PNG": ".png",
    "WEBP": ".webp",
    "BMP": ".bmp",
    "TIFF": ".tif",
}
SUFFIXES |= {"GIF": ".gif", "AVIF": ".avif", "PPM": ".ppm"}


class KeptFiles:
    """A folder with a file for each content, named by its digest; none is written twice."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, content: bytes, name: str = "") -> Path:
        """The file of these bytes, by the suffix of `name`, else by what the bytes are."""
        key = content_digest(content)
        path = self.folder / key[:2] / f"{key}{suffix_of(content, name)}"
        if not _holds(path, content):
            write_whole(path, content)
        return path


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file has this content: one that was kept may be damaged by now."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; several processes may write the same one."""
    with Draft(path) as draft:
        draft.file.write(content)


def suffix_of(content: bytes, name: str = "") -> str:
    """ ".jpg": that of the name where it is one of a known kind, else that of the bytes.

    It is "" for bytes of no known kind: whoever opens the file says what is wrong with it.
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix and kind_of(PurePosixPath(f"a{suffix}")):
        return suffix
    try:
        with Image.open(BytesIO(content), formats=image_formats()) as image:
            return SUFFIXES.get(image.format or "", "")
    except Exception:  # decoders meet strangers' bytes, and raise anything at all
        return ""
