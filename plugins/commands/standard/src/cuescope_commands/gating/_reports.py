"""Verdicts in the forms that pipelines read: JUnit, SARIF, GitHub's lines, Markdown."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from cuescope.application import write_atomically
from cuescope_commands.gating._judging import Verdict
from cuescope_sdk import digest, printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HELP = "https://github.com/cuescope/cuescope"
KINDS = {"fail": "fail", "undecided": "open", "pass": "pass"}


class Files(Protocol):
    """Where each form goes; None where it is not wanted."""

    @property
    def junit(self) -> Path | None: ...
    @property
    def sarif(self) -> Path | None: ...
    @property
    def code_quality(self) -> Path | None: ...
    @property
    def markdown(self) -> Path | None: ...


def write_reports(files: Files, verdicts: Sequence[Verdict], policy: Path) -> None:
    """Each form that is wanted, whole or not at all."""
    if files.junit is not None:
        write_atomically(files.junit, junit_xml(verdicts, policy))
    if files.sarif is not None:
        write_atomically(files.sarif, sarif_json(verdicts, policy))
    if files.code_quality is not None:
        write_atomically(files.code_quality, code_quality_json(verdicts, policy))
    if files.markdown is not None:
        append_markdown(files.markdown, verdicts, policy)


def junit_xml(verdicts: Sequence[Verdict], policy: Path) -> str:
    """A test case a rule; what is undecided is an error where it blocks, else skipped."""
    # JUnit has no word for undecided: what blocks is an error, what does not is skipped
    counts = {
        "tests": len(verdicts),
        "failures": sum(v.outcome == "fail" for v in verdicts),
        "errors": sum(v.outcome == "undecided" and v.blocks for v in verdicts),
        "skipped": sum(v.outcome == "undecided" and not v.blocks for v in verdicts),
    }
    about = {"name": f"cuescope gate {policy.name}"}
    about |= {name: str(count) for name, count in counts.items()}
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", about)
    for verdict in verdicts:
        case = ET.SubElement(
            suite, "testcase", classname=verdict.kind, name=_xml(verdict.name)
        )
        told = {"message": _xml(verdict.sentence), "type": verdict.kind}
        if verdict.outcome == "fail":
            ET.SubElement(case, "failure", told).text = _xml(_samples(verdict))
        elif verdict.outcome == "undecided" and verdict.blocks:
            ET.SubElement(case, "error", told)
        elif verdict.outcome == "undecided":
            ET.SubElement(case, "skipped", message=told["message"])
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def sarif_json(verdicts: Sequence[Verdict], policy: Path) -> str:
    """A result a rule, at its line of the policy; GitHub shows results of files that it has."""
    rules = []
    results = []
    # the standard wants each kind of rule described once, however many results it has
    for kind in dict.fromkeys(verdict.kind for verdict in verdicts):
        text = {"text": kind.replace("-", " ")}
        rules.append({"id": kind, "shortDescription": text, "helpUri": HELP})
    for verdict in verdicts:
        region = {"startLine": verdict.line}
        place = {"artifactLocation": {"uri": policy.as_posix()}, "region": region}
        kind = KINDS[verdict.outcome]
        results.append(
            {
                "ruleId": verdict.kind,
                "kind": kind,
                # the standard has no level but "none" for what is no failure
                "level": "error" if kind == "fail" else "none",
                "message": {"text": f"{verdict.name}: {verdict.sentence}"},
                "locations": [{"physicalLocation": place}],
                # of the rule's words, so that a service knows it again when lines of the policy
                # move
                "partialFingerprints": {"rule/v1": digest(verdict.kind, verdict.name)},
            }
        )
    driver = {
        "name": "cuescope",
        "version": version("cuescope"),
        "informationUri": HELP,
        "rules": rules,
    }
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=1)


def code_quality_json(verdicts: Sequence[Verdict], policy: Path) -> str:
    """GitLab's code quality report: an issue for each rule that does not pass."""
    issues = []
    for verdict in verdicts:
        if verdict.outcome == "pass":
            continue
        place = {"path": policy.as_posix(), "lines": {"begin": verdict.line}}
        issues.append(
            {
                "description": _xml(f"{verdict.name}: {verdict.sentence}"),
                "check_name": verdict.kind,
                # in the fingerprint too no line number: an issue stays the same one
                "fingerprint": digest(verdict.kind, verdict.name),
                "severity": "blocker" if verdict.blocks else "minor",
                "location": place,
            }
        )
    return json.dumps(issues, indent=1)


def github_lines(verdicts: Sequence[Verdict], policy: Path) -> Iterator[str]:
    """A line for each rule that blocks, and a warning for what the policy lets through."""
    for verdict in verdicts:
        if verdict.outcome == "pass":
            continue
        # a policy that lets the undecided pass has said that it is no reason to stop
        command = "error" if verdict.blocks else "warning"
        file = _property(policy.as_posix())
        title = _property(f"{verdict.outcome}: {verdict.name}")
        message = _message(verdict.sentence)
        yield f"::{command} file={file},line={verdict.line},title={title}::{message}"


def append_markdown(file: Path, verdicts: Sequence[Verdict], policy: Path) -> None:
    """Add a table to a file, such as GitHub's step summary."""
    lines = [
        f"### cuescope gate: {policy.name}",
        "",
        "| rule | verdict | |",
        "|---|---|---|",
    ]
    for verdict in verdicts:
        cells = (verdict.name, f"**{verdict.word}**", verdict.sentence)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    # added, not written: other steps of the pipeline have their say in the same file
    with file.open("a", encoding="utf-8") as opened:
        opened.write("\n".join([*lines, "", ""]))


def _samples(verdict: Verdict) -> str:
    shown = verdict.bound.samples if verdict.bound else ()
    return f"samples: {', '.join(shown)}" if shown else ""


def _xml(text: str) -> str:
    # XML 1.0 has no control characters, and keys of samples come from strangers
    return "".join(letter for letter in printable(text) if letter.isprintable())


def _cell(text: str) -> str:
    # a bar would end the cell, and a tag would be drawn as HTML
    return _xml(text).replace("|", "\\|").replace("<", "&lt;")


def _message(text: str) -> str:
    # percent first: the others put new ones in
    return _xml(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # within a property, these two separate it from the next
    return _message(text).replace(":", "%3A").replace(",", "%2C")
