"""What is asked: the samples as they are, and the pictures of cues that another model made."""

from collections.abc import Iterator

from cuescope_cue.options import CueOptions
from cuescope_sdk import Audit, UserError
from cuescope_sdk.cues import Cue, Embedded, Recognition


def recognise(audit: Audit, options: CueOptions) -> Iterator[tuple[Cue, Recognition]]:
    """The cues of the files, each with how likely each sample shows it."""
    cues = load(options)
    data = audit.once(Embedded.ask, audit)
    for cue in cues:
        yield cue, Recognition.ask(audit, data, cue)


def load(options: CueOptions) -> list[Cue]:
    """The cues of the files; raises UserError for none, or for the same one twice."""
    if not options.cue:
        raise UserError(
            "cue: no cue is given",
            expected="a cue file, -O cue=FILE",
            remedy="`cuescope cue make FILE` makes one",
        )
    cues = [Cue.load(path.expanduser()) for path in options.cue]
    if len({cue.key for cue in cues}) < len(cues):
        raise UserError("cue: two files have the same cue", expected="each cue once")
    return cues
