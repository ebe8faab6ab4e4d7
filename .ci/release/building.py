"""Wheels and sdists of all packages, built twice with the same bytes, with what goes with them."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.utils import canonicalize_name

from release import ReleaseError
from release.changelog import Changelog
from release.dists import Dist, read_dists

LICENCES = Path(__file__).with_name("licences.toml")
NO_LICENCE = ("UNKNOWN", "License", "")  # what stands in metadata that say nothing
PUBLIC_FILES = "https://files.pythonhosted.org/"  # not the mirror of one machine


def run(*words: str | Path, at: Path, **variables: str) -> str:
    """What a command prints; raises ReleaseError with its last line where it fails."""
    try:
        done = subprocess.run(
            words,
            cwd=at,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise ReleaseError(f"{words[0]} is not on this machine") from error
    if done.returncode:
        reason = reason_of(done.stdout + done.stderr)
        raise ReleaseError(f"{Path(words[0]).name} {words[1]}: {reason}")
    return done.stdout


def reason_of(output: str) -> str:
    """The last line of what failed; of uv's output the cause, which stands above its hints."""
    told, _, _ = output.strip().partition("\nhint:")
    _, cause, reason = told.rpartition("cause: ")
    last = told.strip().splitlines()[-1:] or ["no output"]
    return " ".join(reason.split()) if cause else last[0]


def find_uv(root: Path) -> str:
    """The program uv, as the Makefile finds it."""
    return shutil.which("uv") or str(root / ".uv" / "bin" / "uv")


def uncommitted(root: Path) -> int:
    """How many files of a checkout are not as they were committed."""
    return len(run("git", "status", "--porcelain", at=root).splitlines())


# ------------------------------------------------------------------------------------------ built


def copy_tracked(root: Path, folder: Path) -> None:
    """The files that git knows, as they lie in the checkout: nothing else may enter a package."""
    names = run("git", "ls-files", "-z", at=root).split("\0")
    for name in filter(None, names):
        if (root / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)


def build(root: Path, target: Path) -> None:
    """All wheels and sdists, each wheel from its sdist; the second build stands elsewhere."""
    # by the commit and not by the clock: archives hold times
    epoch = run("git", "log", "-1", "--format=%ct", at=root).strip()
    with TemporaryDirectory() as place:
        builds = [Path(place, name, "out") for name in ("first", "second, elsewhere")]
        for out in builds:
            copy_tracked(root, out.parent)
            folders = [dist.folder for dist in read_dists(out.parent)]
            run_backend(root, out, folders, epoch)
        for name in different(*builds):
            raise ReleaseError(f"{name} has other bytes in a second build")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(builds[0], target)


def run_backend(root: Path, out: Path, folders: list[Path], epoch: str) -> None:
    """Build the packages of some folders, in a process of its own: it changes folders."""
    run(
        sys.executable,
        "-m",
        "release.backend",
        out,
        *folders,
        at=root / ".ci",
        SOURCE_DATE_EPOCH=epoch,
    )


def different(first: Path, second: Path) -> Iterator[str]:
    """Names of files that two folders do not have alike."""
    digests = [
        {file.name: sha256(file.read_bytes()).hexdigest() for file in out.iterdir()}
        for out in (first, second)
    ]
    for name in sorted(digests[0].keys() | digests[1].keys()):
        if digests[0].get(name) != digests[1].get(name):
            yield name


def check_files(dists: list[Dist], folder: Path, version: str) -> None:
    """Raise ReleaseError for a package without its files, or with metadata that no index takes."""
    for dist in dists:
        check_archives(dist, folder, version)
    files = sorted(folder.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files, at=folder)


def check_archives(dist: Dist, folder: Path, version: str) -> None:
    """Raise ReleaseError for a package without its wheel, sdist, licence or types."""
    wheel = folder / f"{dist.module}-{version}-py3-none-any.whl"
    sdist = folder / f"{dist.module}-{version}.tar.gz"
    for file in (wheel, sdist):
        if not file.is_file():
            raise ReleaseError(f"{dist.name}: {file.name} was not built")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    licence = f"{dist.module}-{version}.dist-info/licenses/LICENSE"
    for name in (licence, f"{dist.module}/py.typed"):
        if name not in names:
            raise ReleaseError(f"{dist.name}: its wheel lacks {name}")
    with tarfile.open(sdist) as archive:
        if f"{dist.module}-{version}/LICENSE" not in archive.getnames():
            raise ReleaseError(f"{dist.name}: its sdist lacks LICENSE")


# ----------------------------------------------------------------------------- what goes with them


def write_beside(root: Path, dists: list[Dist], folder: Path, version: str) -> None:
    """Change notes, SBOMs, licences of what is needed, and digests of all files."""
    changelog = Changelog.read(root / "CHANGELOG.md")
    for name in ("notes", "sbom"):
        (folder / name).mkdir(parents=True)
    packages: set[str] = set()
    for dist in dists:
        notes = changelog.notes(version, dist.name)
        (folder / "notes" / f"{dist.name}.md").write_text(notes, "utf-8")
        sbom = bill_of_materials(root, dist)
        packages |= {part["name"] for part in sbom["components"]}
        text = json.dumps(sbom, indent=1) + "\n"
        (folder / "sbom" / f"{dist.name}.cdx.json").write_text(text, "utf-8")
    licences = licences_of(root, packages - {dist.name for dist in dists})
    (folder / "licences.json").write_text(
        json.dumps(licences, indent=1) + "\n", "utf-8"
    )
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    lines = [
        f"{sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n"
        for file in files
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")


def bill_of_materials(root: Path, dist: Dist) -> dict[str, Any]:
    """All that a package needs, by the versions that the tests ran with, as CycloneDX."""
    text = run(
        find_uv(root),
        "export",
        "--quiet",
        "--frozen",
        "--no-default-groups",
        "--format",
        "cyclonedx1.5",
        "--package",
        dist.name,
        at=root,
    )
    sbom: dict[str, Any] = json.loads(text)
    # what differs from one second or machine to another
    del sbom["serialNumber"], sbom["metadata"]["timestamp"]
    for part in sbom["components"]:
        references = part.get("externalReferences", [])
        public = [r for r in references if r["url"].startswith(PUBLIC_FILES)]
        part["externalReferences"] = public
    return sbom


def licences_of(root: Path, packages: set[str]) -> list[dict[str, str]]:
    """Name, version and licence of packages; raises ReleaseError where nobody knows it."""
    told: dict[str, dict[str, str]] = tomllib.loads(LICENCES.read_text("utf-8"))
    text = run(
        sys.executable,
        "-m",
        "piplicenses",
        "--format=json",
        "--from=mixed",
        "--packages",
        *sorted(packages),
        at=root,
    )
    rows: list[dict[str, str]] = json.loads(text)
    for row in rows:
        name = canonicalize_name(row["Name"])
        if row["License"] in NO_LICENCE:
            if name not in told:
                raise ReleaseError(
                    f"{name} {row['Version']} does not say its licence: "
                    "look it up, and write it into .ci/release/licences.toml"
                )
            row["License"] = told[name]["licence"]
    return rows
