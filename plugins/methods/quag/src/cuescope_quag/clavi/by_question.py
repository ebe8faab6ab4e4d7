"""Table 15 of the paper: accuracy by video (V, V') and question (Q, Q').

Who answers yes to Q and to Q' alike is right about one of the two, and in the complement video
about the other; only here this is seen. A data set says by `annotations["video"]` ("original",
"complement") and `annotations["question_form"]` ("Q", "Q'") which is which.
"""

from collections.abc import Mapping

import numpy as np

from cuescope_quag.options import QUAGOptions
from cuescope_quag.paper import cells_by_question
from cuescope_quag.trials import Answers, Samples, benchmark_of
from cuescope_sdk import Audit, Table
from cuescope_sdk.statistics import Estimate

FORMS = {"original": "V", "complement": "V'"}
TYPES = ("E", "E-NC", "BE", "BA", "BA-NC")


def attach_by_question(audit: Audit, options: QUAGOptions, answers: Answers) -> None:
    """A row a video, type and question; nothing where no sample says what it is."""
    cells = group_by_question(answers.samples)
    # Q and Q' are what this table sets apart
    if not any(name.split()[-1] in ("Q", "Q'") for name in cells):
        return
    right = answers.before.astype(float)
    rows = []
    for name, members in cells.items():
        groups = answers.groups.take(members)
        share = Estimate.of_mean(right[members], groups)
        ends = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
        rows.append((name, f"{100 * share.value:.1f} {ends}", len(members)))
    paper = cells_by_question(options.beside) if benchmark_of(audit) == "CLAVI" else ()
    beside = (
        f" In brackets: {options.beside} in table 15 of the paper." if paper else ""
    )
    note = (
        "V is the original video, V' its complement (the two actions change places); Q is true of "
        "the original, and Q' says the opposite. Two rows that add up to about 100% (Q and Q' of "
        f"one video) have one answer for both.{beside}"
    )
    audit.attach(
        Table.of(
            "Accuracy by video and question, %",
            ("condition", "accuracy", "n"),
            rows,
            note,
            paper=paper,
        )
    )


def group_by_question(samples: Samples) -> Mapping[str, np.ndarray]:
    """Indices of each cell of table 15, in its order: "V BE Q", "V BE Q'" ..."""
    cells: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        facts = sample.annotations
        video = FORMS.get(str(facts.get("video")))
        if video is not None and "question_type" in facts:
            form = str(facts.get("question_form", ""))
            # control questions have no form
            name = " ".join(filter(None, (video, str(facts["question_type"]), form)))
            cells.setdefault(name, []).append(index)
    return {name: np.array(cells[name]) for name in sorted(cells, key=_order)}


def _order(name: str) -> tuple[str, int, str]:
    """Original first, the types as in the paper, Q before Q'."""
    video, kind, *form = name.split()
    # types of other data sets come last, by name
    place = TYPES.index(kind) if kind in TYPES else len(TYPES)
    return video, place, " ".join((kind, *form))
