"""Run the commands of docs/quickstart.md, photograph their reports and write their screens.

    python .ci/gallery.py [NAME ...]

Each section of the page has a command and a picture; the picture's file name is the run's. What a
command prints takes the place of every text block of README.md and docs that has its first line.
"""

import io
import os
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
SHOWN = re.compile(r"(?<=```text\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
FOLDER = re.compile(r"runs/[\w-]+")
CUT = "Checks"  # README.md shows what stands above
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def sections() -> Iterator[tuple[str, list[str]]]:
    """Name and command of each picture."""
    for command, name in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        yield name, shlex.split(command.replace("\\\n", " "))[1:]


def title_of(screen: str) -> str:
    """First line of a report's screen, without the count of samples."""
    return screen.partition("\n")[0].partition("  ")[0]


def refreshed(block: str, screen: str) -> str:
    """A block of a page with what a command prints now, if it is that command's."""
    if title_of(block) != title_of(screen):
        return block
    if folder := FOLDER.search(block):
        return FOLDER.sub(folder[0], screen)
    return screen.partition(f"{CUT} ")[0]


def write_screen(screen: str) -> None:
    """Put what a command prints into the pages that show it."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        new = SHOWN.sub(lambda block: refreshed(block[0], screen), text)
        if new != text:
            page.write_text(new, encoding="utf-8")


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
    programs = Path(sys.executable).parent
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    for name, words in sections():
        if chosen and name not in chosen:
            continue
        # relative: pages show it in the commands to copy
        run = Path("runs", name)
        print(f"{name}: cuescope {shlex.join(words)}", flush=True)
        printed = subprocess.run(
            [str(programs / "cuescope"), *words, "--out", str(run)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PATH": path, "COLUMNS": "80"},
        )
        write_screen(printed.stdout)
        file = PAGE.parent / "gallery" / f"{name}.webp"
        photograph(browser, ROOT / run / "report.html", file)
        print(
            f"  {file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB",
            flush=True,
        )


if __name__ == "__main__":
    main()
