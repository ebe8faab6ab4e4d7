"""Run the commands of docs/quickstart.md and photograph the pages of their reports.

    python .ci/gallery.py [NAME ...]

Each section of the page has a command and a picture; the picture's file name is the run's.
"""

import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "quickstart.md"
PICTURE = r"!\[[^\]]*\]\(gallery/([\w-]+)\.webp\)"
SECTION = re.compile(r"```sh\n(cuescope (?:(?!```).)*?)\n```\s+" + PICTURE, re.DOTALL)
WIDTH, HEIGHT = 1200, 800
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def sections() -> Iterator[tuple[str, list[str]]]:
    """Name and command of each picture."""
    for command, name in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        yield name, shlex.split(command.replace("\\\n", " "))[1:]


def photograph(browser: str, page: Path, file: Path) -> None:
    """The top of a page, as a small picture."""
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder, "shot.png")
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ]
        size = f"--window-size={WIDTH},{HEIGHT}"
        line = [browser, *options, size, f"--user-data-dir={folder}/profile"]
        done = subprocess.run(
            [
                *line,
                "--virtual-time-budget=4000",
                f"--screenshot={shot}",
                page.resolve().as_uri(),
            ],
            capture_output=True,
            check=False,
        )
        if not shot.exists():
            sys.exit(
                f"{browser} took no picture of {page}: {done.stderr.decode()[-400:]}"
            )
        with Image.open(io.BytesIO(shot.read_bytes())) as image:
            image.convert("RGB").save(file, "WEBP", quality=72, method=6)


def main() -> None:
    """Make the pictures of all sections, or of those that are named."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"the gallery needs one of {', '.join(BROWSERS)}")
    chosen = sys.argv[1:]
    cuescope = Path(sys.executable).with_name("cuescope")
    for name, words in sections():
        if chosen and name not in chosen:
            continue
        # relative: pages show it in the commands to copy
        run = Path("runs", "gallery", name)
        print(f"{name}: cuescope {shlex.join(words)}", flush=True)
        subprocess.run(
            [str(cuescope), *words, "--out", str(run)],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
        )
        file = PAGE.parent / "gallery" / f"{name}.webp"
        photograph(browser, ROOT / run / "report.html", file)
        print(
            f"  {file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB",
            flush=True,
        )


if __name__ == "__main__":
    main()
