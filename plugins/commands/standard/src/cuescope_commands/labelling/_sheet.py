"""The sheet: a table and a page with the pictures, and a key that says what each line is about."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from io import BytesIO
from pathlib import Path

from jinja2 import Environment
from PIL import Image, ImageDraw

from cuescope.application import root, safe_text, write_atomically, write_csv
from cuescope_sdk import Frame, LabelItem, StoredRun, UserError, generator, write_sealed

SIDE = 768  # pixels of a picture's longer side
ACROSS = 3  # frames side by side
LINE = 14  # pixels; the font's height is 11


def write_sheet(
    items: Sequence[LabelItem],
    run: StoredRun,
    folder: Path,
    most: int | None,
    seed: int,
) -> int:
    """`sheet.csv`, `sheet.html`, `pictures/` and `key.json` in the folder; how many questions.

    Raises UserError where a sheet is there already: somebody may have filled it in.
    """
    if (folder / "sheet.csv").exists():
        raise UserError(
            f"{folder / 'sheet.csv'} is there already, and may be filled in",
            remedy="Read it with --read, move it away, or write another with --out",
        )
    # in the order of the run a person would see which images show the cue most
    drawn = generator(seed, "label").permutation(len(items))[:most].tolist()
    pictures: dict[tuple[str, tuple[int, ...]], str] = {}
    rows = []
    questions = []
    key = []
    for number, index in enumerate(drawn, 1):
        item = items[index]
        sample = run.samples.get(root(item.sample, run.samples) or "")
        if sample is None or not sample.frames:
            raise UserError(
                f"label: no picture of sample '{item.sample}'",
                expected="a sample of the run's data",
            )
        # several questions may be about one picture
        shown = (item.sample, item.frames)
        if shown not in pictures:
            pictures[shown] = f"pictures/{len(pictures) + 1:04d}.jpg"
            _write_picture(sample.frames, item.frames, folder / pictures[shown])
        row = {
            "number": str(number),
            "picture": pictures[shown],
            "question": item.question,
            "text": item.text,
            "answers": " or ".join(item.answers),
            "answer": "",
        }
        # a spreadsheet would run a text that begins as a formula does
        rows.append({name: safe_text(cell) for name, cell in row.items()})
        questions.append({**row, "choices": item.answers})
        key.append(
            {**asdict(item), "number": number, "group": sample.group or item.sample}
        )
    about = {"report": run.report.hash, "items": key}
    # apart from the sheet, which must not show what the run says
    write_sealed(folder / "key.json", json.dumps(about, indent=1).encode())
    # A page that works offline: click an answer, then save what is filled in as a CSV file.
    template = (
        files("cuescope_commands.labelling")
        .joinpath("sheet.html.jinja")
        .read_text("utf-8")
    )
    # texts of the data may hold marks of HTML
    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    write_atomically(
        folder / "sheet.html", page.from_string(template).render(questions=questions)
    )
    write_csv(folder / "sheet.csv", rows)  # last: it says that all is there
    return len(rows)


def _write_picture(frames: Sequence[Frame], shown: Sequence[int], path: Path) -> None:
    """Some frames, the middle one where none is named, as a JPEG of at most SIDE pixels a side."""
    indices = shown or (len(frames) // 2,)
    # JPEG knows no transparency
    images = [frames[index].load().convert("RGB") for index in indices]
    image = images[0] if len(images) == 1 else _tile(images, indices)
    image.thumbnail((SIDE, SIDE))
    file = BytesIO()
    image.save(file, "JPEG", quality=90)
    write_atomically(path, file.getvalue())


def _tile(images: Sequence[Image.Image], indices: Sequence[int]) -> Image.Image:
    """Frames in the order of reading, each below its number."""
    across = min(ACROSS, len(images))
    side = SIDE // across
    for image in images:
        # 2 px of white on each side keep the frames apart
        image.thumbnail((side - 4, side - 4))
    height = max(image.height for image in images) + LINE + 4
    down = math.ceil(len(images) / across)
    sheet = Image.new("RGB", (side * across, height * down), "white")
    draw = ImageDraw.Draw(sheet)
    for position, image in enumerate(images):
        row, column = divmod(position, across)
        left = side * column + 2
        top = height * row
        draw.text((left, top), f"frame {indices[position] + 1}", fill="black")
        sheet.paste(image, (left, top + LINE))
    return sheet
