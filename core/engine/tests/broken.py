"""Six ways to be broken, and the reason and remedy that each deserves."""

from pathlib import Path

from .stubs import write_dist

METHODS = "cuescope.methods"
HEALTHY = """
from cuescope_core.capabilities import Requirements
from cuescope_core.plugin import Plugin

class Healthy(Plugin):
    title = "Healthy"
    requires = Requirements()
    metrics = ()
"""

# name of the plugin -> what its reason and its remedy must hold
SIX = {
    "importing": (
        "ModuleNotFoundError: No module named 'nowhere_at_all'",
        "get cuescope-importing anew",
    ),
    "unparsable": ("SyntaxError", "get cuescope-unparsable anew"),
    "exiting": ("SystemExit: 3", "get cuescope-exiting anew"),
    "mistyped": ("is a str, expected a class", "tell the authors of cuescope-mistyped"),
    "twice": ("also comes from", "pip uninstall cuescope-twice"),
    "outdated": (
        "needs cuescope-sdk<0.5,>=0.4, installed is 1.3",
        "get cuescope-outdated anew",
    ),
}


def write_six(folder: Path) -> None:
    """A stub for each, one healthy method, and an sdk of version 1.3."""
    sources = {
        "importing": "import nowhere_at_all.deeper",
        "unparsable": "def broken(:\n",
        "exiting": "raise SystemExit(3)",
        "mistyped": "Plugin = 'a string'",
    }
    for name, source in sources.items():
        points = {METHODS: {name: f"stub_{name}:Plugin"}}
        write_dist(folder, f"cuescope-{name}", points, {f"stub_{name}": source})
    for dist in ("cuescope-twice", "cuescope-twice-again"):
        write_dist(folder, dist, {METHODS: {"twice": "stub_healthy:Healthy"}})
    write_dist(folder, "cuescope-sdk", {}, version="1.3")
    outdated = {METHODS: {"outdated": "stub_exiting:Plugin"}}
    write_dist(
        folder, "cuescope-outdated", outdated, requires=("cuescope_sdk <0.5,>=0.4",)
    )
    write_dist(
        folder,
        "cuescope-healthy",
        {METHODS: {"healthy": "stub_healthy:Healthy"}},
        {"stub_healthy": HEALTHY},
        requires=("cuescope-sdk>=1", "cuescope-sdk-extras<0.1"),
    )
