"""Croissant metadata (MLCommons, version 1.0): what is in the folder, for other tools."""

import json
from collections.abc import Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from cuescope_covar_build.manifest import MANIFEST, ORIGINAL, Row

CROISSANT = "croissant.json"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
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


def write_croissant(folder: Path, rows: Sequence[Row]) -> None:
    """`croissant.json` beside the manifest, of which it has the digest."""
    text = json.dumps(metadata(folder, rows), indent=1) + "\n"
    (folder / CROISSANT).write_text(text, encoding="utf-8")


def metadata(folder: Path, rows: Sequence[Row]) -> dict[str, Any]:
    """The folder in words of schema.org and Croissant."""
    licences = sorted({row.licence for row in rows} - {""})
    labels = {row.label for row in rows}
    photos = {row.source_key for row in rows}
    backgrounds = {row.background for row in rows} - {ORIGINAL}
    manifest = (folder / MANIFEST).read_bytes()
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "covar",
        "description": f"{len(rows):,} images of {len(labels):,} classes made from "
        f"{len(photos):,} photos: each object on {len(backgrounds):,} backgrounds, in controlled "
        "variants.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "version": "1.0.0",
        "license": licences or ["unknown"],
        "keywords": ["spurious correlations", "backgrounds", "robustness"],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "manifest",
                "name": MANIFEST,
                "contentUrl": MANIFEST,
                "encodingFormat": "application/x-parquet",
                "sha256": sha256(manifest).hexdigest(),
            },
            _file_set("images"),
            _file_set("masks"),
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "images-of-objects",
                "name": "images-of-objects",
                "key": {"@id": "images-of-objects/key"},
                "field": [_field(field.name, field.type) for field in fields(Row)],
            }
        ],
    }


def _file_set(folder: str) -> dict[str, str]:
    return {
        "@type": "cr:FileSet",
        "@id": folder,
        "name": folder,
        "encodingFormat": "image/png",
        "includes": f"{folder}/**/*.png",
    }


def _field(name: str, kind: Any) -> dict[str, Any]:
    identity = f"images-of-objects/{name}"
    description = {"description": MEANINGS[name]} if name in MEANINGS else {}
    return {
        "@type": "cr:Field",
        "@id": identity,
        "name": identity,
        **description,
        "dataType": KINDS.get(kind, "sc:Float"),
        "source": {"fileObject": {"@id": "manifest"}, "extract": {"column": name}},
    }
