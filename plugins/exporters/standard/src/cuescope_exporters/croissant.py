"""Croissant 1.0: a description of the answers that a run emits, beside the table itself."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from cuescope_exporters.every_eval_ever import plain_name
from cuescope_sdk import Options, StoredRun, UserError, Words
from cuescope_sdk.exporting import Exporter

TABLE = "answers.parquet"
TYPES = {
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "float": "sc:Float",
    "double": "sc:Float",
}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
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
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


class CroissantOptions(Options):
    """What a data set's description must name."""

    license: Annotated[str, Words()] = Field(
        "https://spdx.org/licenses/CC-BY-4.0", description="of the answers"
    )
    url: Annotated[str, Words()] = Field(
        "https://github.com/cuescope/cuescope", description="where they are published"
    )


class Croissant(Exporter):
    """croissant.json and the table of answers that it describes."""

    title = "Croissant 1.0 with the answers"
    Options = CroissantOptions
    options: CroissantOptions

    def export(self, run: StoredRun, folder: Path) -> list[Path]:
        """Copy the table and write its description."""
        table = run.folder / TABLE
        if not table.is_file():
            raise UserError(f"{run.path} keeps no answers", expected=f"a file {TABLE}")
        copied = folder / TABLE
        # a copy beside the description: the folder can be published as it is
        shutil.copyfile(table, copied)
        file = folder / "croissant.json"
        content = self._description(run, copied)
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
        return [file, copied]

    def _description(self, run: StoredRun, table: Path) -> dict[str, Any]:
        import pyarrow.parquet as pq

        origin = run.report.provenance
        # a stranger's table may have others beside ours
        columns = [
            column for column in pq.read_schema(table) if str(column.type) in TYPES
        ]
        fields = [_field(column) for column in columns]
        name = plain_name(
            f"{origin.method.spec}-{origin.model.spec}-{origin.data.spec}"
        )
        # of the copy, since that is what a reader will hold against it
        digest = hashlib.sha256(table.read_bytes()).hexdigest()
        return {
            "@context": CONTEXT,
            "@type": "sc:Dataset",
            "name": name,
            "description": f"Answers of {origin.model.spec} to {origin.data.spec}, as "
            f"{origin.method.spec} of cuescope asked them (report {run.report.hash}).",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "license": self.options.license,
            "url": self.options.url,
            "version": "1.0.0",
            # the day of the audit, not of the export: the same run gives the same file
            "datePublished": origin.started[:10],
            "distribution": [
                {
                    "@type": "cr:FileObject",
                    "@id": TABLE,
                    "name": TABLE,
                    "contentUrl": TABLE,
                    "encodingFormat": "application/x-parquet",
                    "sha256": digest,
                }
            ],
            "recordSet": [
                {
                    "@type": "cr:RecordSet",
                    "@id": "answers",
                    "name": "answers",
                    "field": fields,
                }
            ],
        }


def _field(column: Any) -> dict[str, Any]:
    """A column of the table."""
    # a column is found by name: tables of older runs have theirs in another order
    place = {"fileObject": {"@id": TABLE}, "extract": {"column": column.name}}
    return {
        "@type": "cr:Field",
        "@id": f"answers/{column.name}",
        "name": column.name,
        "dataType": TYPES[str(column.type)],
        "source": place,
    }
