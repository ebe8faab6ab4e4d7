"""The bundle brings what its README says, and nothing else."""

import re
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

DIST = "cuescope-start"
README = Path(__file__).parents[1] / "README.md"


def test_the_table_of_the_readme_names_all_that_it_brings() -> None:
    table = re.findall(r"^\| (`.*?) \|", README.read_text("utf-8"), re.M)
    words = [word for row in table for word in re.findall(r"`([^`]+)`", row)]
    named = {f"cuescope{word}" if word.startswith("-") else word for word in words}
    brought = {
        line.partition(">=")[0].partition("<")[0] for line in requires(DIST) or ()
    }
    assert named == brought


def test_versions_go_together() -> None:
    ranges = {str(Requirement(line).specifier) for line in requires(DIST) or ()}
    assert len(ranges) == 1
