"""What `cuescope covar build` prints with `--json`."""

from cuescope.application import JsonOutput


class CovarPlan(JsonOutput):
    """`--plan`: what a build would cost; `seconds` is missing where an editor never worked here."""

    photos: int
    images: int
    made: int
    edits: dict[str, int]
    seconds: float | None
    bytes: float
    free_bytes: int
    viewpoints: bool


class CovarBuild(JsonOutput):
    """What was built: images by subset, and how many were dropped."""

    manifest: str
    images: dict[str, int]
    dropped: int
    photos: int
