"""The sheet: a table and a page with the pictures, and a key that says what each line is about."""

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from io import BytesIO, StringIO
from pathlib import Path

from jinja2 import Environment
from PIL import Image, ImageDraw

from cuescope.application import root, safe_text, write_atomically
from cuescope_sdk import LabelItem, StoredRun, UserError, generator, write_sealed

SIDE = 768  # pixels of a picture's longer side
ACROSS = 3  # frames side by side
COLUMNS = ("number", "picture", "question", "text", "answers", "answer")


def write_sheet(
    items: Sequence[LabelItem], run: StoredRun, folder: Path, most: int | None, seed: int
) -> int:
    """`sheet.csv`, `sheet.html`, `pictures/` and `key.json` in the folder; how many questions.

    Raises UserError where a sheet is there already: somebody may have filled it in.
    """
    if (folder / "sheet.csv").exists():
        raise UserError(
            f"{folder / 'sheet.csv'} is there already, and may be filled in",
            remedy="Read it with --read, move it away, or write another with --out",
        )
    drawn = generator(seed, "label").permutation(len(items))[:most].tolist()
    pictures: dict[tuple[str, tuple[int, ...]], str] = {}
    rows, key = list[dict[str, str]](), list[dict[str, object]]()
    for number, index in enumerate(drawn, 1):
        item = items[index]
        shown = (item.sample, item.frames)
        if shown not in pictures:
            pictures[shown] = _write_picture(item, run, folder, len(pictures) + 1)
        rows.append(
            {
                "number": str(number),
                "picture": pictures[shown],
                "question": item.question,
                "text": item.text,
                "answers": " or ".join(item.answers),
                "answer": "",
            }
        )
        sample = run.samples.get(root(item.sample, run.samples) or "")
        group = sample.group if sample is not None else None
        key.append({**asdict(item), "number": number, "group": group or item.sample})
    about = {"report": run.report.hash, "items": key}
    write_sealed(folder / "key.json", json.dumps(about, indent=1).encode())
    write_atomically(folder / "sheet.html", _page(rows, key))
    text = StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: safe_text(cell) for name, cell in row.items()} for row in rows)
    write_atomically(folder / "sheet.csv", text.getvalue())  # last: it says that all is there
    return len(rows)


def _write_picture(item: LabelItem, run: StoredRun, folder: Path, number: int) -> str:
    """The frames as a JPEG file, at most SIDE pixels a side; its path in the folder."""
    name = root(item.sample, run.samples)
    sample = run.samples.get(name or "")
    if sample is None or not sample.frames:
        raise UserError(
            f"label: no picture of sample '{item.sample}'", expected="a sample of the run's data"
        )
    indices = item.frames or (len(sample.frames) // 2,)
    images = [sample.frames[index].load().convert("RGB") for index in indices]
    image = images[0] if len(images) == 1 else _tile(images, [index + 1 for index in indices])
    image.thumbnail((SIDE, SIDE))
    file = BytesIO()
    image.save(file, "JPEG", quality=90)
    path = f"pictures/{number:04d}.jpg"
    write_atomically(folder / path, file.getvalue())
    return path


def _tile(images: Sequence[Image.Image], numbers: Sequence[int]) -> Image.Image:
    """Frames in the order of reading, each below its number."""
    across = min(ACROSS, len(images))
    side, line = SIDE // across, 14  # pixels; the font's height is 11
    down = -(-len(images) // across)
    for image in images:
        image.thumbnail((side - 4, side - 4))
    high = max(image.height for image in images) + line + 4
    sheet = Image.new("RGB", (side * across, high * down), "white")
    draw = ImageDraw.Draw(sheet)
    for place, (image, number) in enumerate(zip(images, numbers, strict=True)):
        left, top = side * (place % across), high * (place // across)
        draw.text((left + 2, top), f"frame {number}", fill="black")
        sheet.paste(image, (left + 2, top + line))
    return sheet


def _page(rows: Sequence[dict[str, str]], key: Sequence[dict[str, object]]) -> str:
    """A page that works offline: click an answer, then save what is filled in as a CSV file."""
    template = files("cuescope_commands.labelling").joinpath("sheet.html.jinja").read_text("utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    questions = [{**row, "choices": item["answers"]} for row, item in zip(rows, key, strict=True)]
    return environment.from_string(template).render(questions=questions)
