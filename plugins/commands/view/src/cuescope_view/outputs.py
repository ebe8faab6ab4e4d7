"""What `cuescope view` prints with `--json`."""

from cuescope.application import JsonOutput


class ServedPage(JsonOutput):
    """Where the page is, as soon as it is served; the address holds a secret token."""

    folder: str
    address: str
