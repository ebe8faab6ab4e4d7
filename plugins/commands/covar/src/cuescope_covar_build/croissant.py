"""Croissant metadata (MLCommons, version 1.0): what is in the folder, for other tools.

`croissant.json` of this package has what is the same of every folder.
"""

import json
from collections.abc import Sequence
from dataclasses import fields
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from cuescope_sdk.data import CovarManifest, CovarRow
from cuescope_sdk.report import count_of

CROISSANT = "croissant.json"
KINDS = {int: "sc:Integer", bool: "sc:Boolean", str: "sc:Text"}
MEANINGS = {
    "image": "the image, a file inside the folder",
    "mask": "white where the object is, a file inside the folder",
    "group": "images of one group were made from one photo",
    "kept_exactly": "no editor changed a pixel of the object",
    "dropped": "why the quality filter dropped the image",
    "image_digest": "BLAKE2b of the image's file, 16 bytes",
    "mask_digest": "BLAKE2b of the mask's file, 16 bytes",
}


def write_croissant(folder: Path, rows: Sequence[CovarRow]) -> None:
    """`croissant.json` beside the manifest, of which it has the digest."""
    text = json.dumps(metadata(folder, rows), indent=1) + "\n"
    (folder / CROISSANT).write_text(text, encoding="utf-8")


def metadata(folder: Path, rows: Sequence[CovarRow]) -> dict[str, Any]:
    """The folder in words of schema.org and Croissant."""
    content: dict[str, Any] = json.loads(
        files(__package__).joinpath(CROISSANT).read_bytes()
    )
    labels = {row.label for row in rows}
    photos = {row.source_key for row in rows}
    backgrounds = {row.background for row in rows} - {CovarManifest.ORIGINAL}
    licences = {row.licence for row in rows} - {""}
    content["description"] = (
        f"{count_of(len(rows), 'images')} of {len(labels):,} classes made from "
        f"{len(photos):,} photos: each "
        f"object on {len(backgrounds):,} backgrounds, in controlled variants."
    )
    content["license"] = sorted(licences) or ["unknown"]
    manifest = (folder / CovarManifest.NAME).read_bytes()
    content["distribution"][0]["sha256"] = sha256(manifest).hexdigest()
    content["recordSet"][0]["field"] = [
        _field(field.name, field.type) for field in fields(CovarRow)
    ]
    return content


def _field(name: str, kind: Any) -> dict[str, Any]:
    identity = f"images-of-objects/{name}"
    description = {"description": MEANINGS[name]} if name in MEANINGS else {}
    return {
        "@type": "cr:Field",
        "@id": identity,
        "name": identity,
        **description,
        # what is left are the scores, `float | None`
        "dataType": KINDS.get(kind, "sc:Float"),
        "source": {"fileObject": {"@id": "manifest"}, "extract": {"column": name}},
    }
