"""Distributions as pip leaves them on a path: by them a program finds plugins of a benchmark."""

from collections.abc import Mapping
from pathlib import Path


def write_distribution(
    folder: Path,
    name: str,
    plugins: Mapping[str, Mapping[str, str]],
    metadata: str = "",
) -> None:
    """What tells of a distribution, beside its modules; `plugins` by their group and name.

    `metadata` are further lines of it.
    """
    info = folder / f"{name.replace('-', '_')}-0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    lines = []
    for group, objects in plugins.items():
        lines.append(f"[cuescope.{group}]")
        lines += [f"{plugin} = {place}" for plugin, place in objects.items()]
    (info / "entry_points.txt").write_text("\n".join([*lines, ""]))
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n{metadata}"
    )
