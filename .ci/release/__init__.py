"""What makes a release: versions, checks, builds and proofs (`make release`, `make prove`)."""


class ReleaseError(Exception):
    """A release cannot be made; the text is one line."""
