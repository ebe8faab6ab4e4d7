"""Tables 1, 3 and 4 to 12 of the paper (Rawal et al., 2024), in percent."""

from cuescope_quag.trials import CROSSMODAL, WITHOUT_QUESTION, WITHOUT_VIDEO, merged_key
from cuescope_sdk import Cell

BENCHMARKS = ("ActivityNet-QA", "MSRVTT-QA", "NExT-QA", "ATP-Hard")
CONDITIONS = (
    "baseline",
    WITHOUT_VIDEO,
    WITHOUT_QUESTION,
    "SC: unimodal",
    CROSSMODAL,
    "SC: video",
    "SC: text",
    "QUAG-attention",
)
# Which tokens were averaged for the last row (table 1, note).
AVERAGED = {"FrozenBiLM": "video", "JustAsk": "video-text"}

# Tables 1 and 12: a column for each of BENCHMARKS, a line for each of CONDITIONS. All-in-one+ has
# figures for the first two alone.
_OVERALL = {
    "FrozenBiLM": """
43.6 46.6 55.8 55.7
32.2 33.2 55.7 55.8
 0.1  0.0 20.2 20.1
 2.4  1.0 19.8 21.4
32.3 32.8 56.0 55.6
43.1 45.7 55.8 55.7
 1.4  1.0 20.5 21.1
43.0 45.8 55.6 55.9
""",
    "JustAsk": """
38.7 41.8 53.8 44.0
28.2 29.9 42.2 42.0
 2.6  6.7 39.1 23.0
38.5 41.5 53.6 43.6
38.3 41.3 53.5 44.3
38.2 41.3 53.4 44.3
38.6 41.5 53.7 43.6
38.0 41.0 53.5 44.1
""",
    "All-in-one+": """
41.9 43.1
23.5 20.8
14.2  4.2
11.4  3.8
20.6 27.6
19.2 12.7
 5.6  7.3
""",
}

_TYPES = {
    "ActivityNet-QA": "Motion, Spatial, Temporal, Yes/No, Color, Object, Location, Number, Other",
    "MSRVTT-QA": "What, How, Color, Where, Who, When",
    "NExT-QA": "Causal, Temporal, Descriptive",
    "ATP-Hard": "Causal, Temporal",
}

# Tables 4 to 11: a column a type of question; text comes before video there.
_TYPE_CONDITIONS = (*CONDITIONS[:5], "SC: text", "SC: video", "QUAG-attention")
_BY_TYPE = {
    ("JustAsk", "ActivityNet-QA"): """
30.6 19.9 4.9 64.2 34.7 26.7 35.5 48.9 36.8
 1.4  9.1 4.3 51.8 28.7 23.0 16.6 46.9 29.1
20.3  0.9 1.8  0.0  0.0  1.6  1.3  0.0  0.7
30.1 19.1 4.9 63.9 33.6 26.4 36.8 48.4 37.0
28.0 18.9 4.8 64.7 34.7 25.8 35.5 48.5 36.4
30.4 19.3 5.0 64.1 34.0 26.4 35.5 46.7 37.2
28.6 18.8 4.5 64.3 34.6 25.5 35.5 48.4 36.1
28.1 18.5 4.9 64.1 33.6 25.2 34.7 48.0 36.6
""",
    ("JustAsk", "MSRVTT-QA"): """
35.8  83.7  51.7  39.4 51.3 82.3
24.3  83.3  43.4  30.5 37.1 72.3
 8.5   0.0   3.5   0.4  3.0 10.1
35.6  83.3  51.8  39.8 50.8 82.3
35.35 83.75 51.98 39.8 50.8 81.8
35.7  83.2  51.8  39.0 50.8 82.1
35.4  83.8  51.8  39.8 50.7 81.6
35.1  83.5  51.1  38.6 50.2 82.1
""",
    ("JustAsk", "NExT-QA"): """
50.8 52.8 65.0
39.5 44.3 47.1
39.2 37.9 44.0
50.5 52.5 65.3
50.8 51.8 65.0
50.7 52.7 65.0
50.7 52.1 65.0
50.8 52.0 65.1
""",
    ("JustAsk", "ATP-Hard"): """
44.4 43.4
41.2 43.1
23.5 22.3
43.2 43.3
44.2 44.4
43.7 43.4
44.3 44.4
44.2 43.9
""",
    ("FrozenBiLM", "ActivityNet-QA"): """
30.1 22.5 6.4  75.6 34.6 27.7 37.1 55.8 41.6
 2.6 10.5 4.8  63.3 32.3 23.9 16.6 44.7 31.6
 0.0  0.0 0.5   0.0  0.0  0.0  0.0  0.0  0.0
 0.0  0.1 0.1   8.3  0.0  0.0  0.0  1.3  0.5
 1.8 11.1 3.88 64.5 32.7 21.7 16.8 46.0 32.1
 0.0  0.1 0.1   4.4  0.1  0.3  0.0  1.2  0.3
28.8 21.8 6.5  75.1 34.3 29.3 36.0 55.3 41.0
28.9 22.3 6.0  74.4 35.0 27.3 37.3 54.1 41.1
""",
    ("FrozenBiLM", "MSRVTT-QA"): """
40.5 87.2 57.9 41.5 56.6 81.4
27.3 83.6 50.0 35.8 41.2 77.6
 0.0  0.0  0.0  0.0  0.0  0.0
 0.7  0.0  1.2  0.8  1.8  0.2
27.1 83.4 50.9 32.9 41.1 66.3
 0.3  0.0  0.8  0.0  2.8  0.0
39.8 85.5 58.8 41.9 55.4 80.9
39.9 86.2 58.1 42.7 55.2 81.1
""",
    ("FrozenBiLM", "NExT-QA"): """
56.0 56.1 54.5
55.9 56.1 54.2
20.7 19.1 20.9
19.7 21.1 17.3
56.1 56.5 54.3
20.0 21.6 19.9
56.1 56.1 54.5
55.9 55.8 54.1
""",
    ("FrozenBiLM", "ATP-Hard"): """
55.2 56.3
55.5 56.2
20.0 20.1
20.7 22.5
54.9 56.6
20.2 22.3
55.3 56.3
55.3 56.7
""",
}

# Table 3, then section 5.2: FrozenBiLM with its video tokens averaged.
CONSISTENT = (
    "balanced accuracy",
    "CAcc_V",
    "CAcc_T",
    "CAcc_V control",
    "CAcc_T control",
    "CAcc_V complement",
    "CAcc_T complement",
)
_CONSISTENT = {
    "JustAsk": (72.2, 50.6, 50.3, 98.0, 98.2, 3.6, 2.4),
    "FrozenBiLM": (80.5, 74.0, 75.5, 93.2, 93.7, 54.1, 57.2),
    "All-in-one+": (73.9, 49.6, 49.5, 98.1, 98.2, 1.2, 0.8),
}
_CONSISTENT_AVERAGED = dict(zip(CONSISTENT[3:], (99.2, 98.6, 3.6, 23.0), strict=True))


def overall(model: str, benchmark: str) -> dict[str, float]:
    """Accuracy by row of table 1 or 12; {} where the paper has none."""
    table = [line.split() for line in _OVERALL[model].strip().splitlines()]
    column = BENCHMARKS.index(benchmark) if benchmark in BENCHMARKS else len(table[0])
    if column >= len(table[0]):
        return {}
    # Not strict: the paper has no QUAG-attention of All-in-one+.
    rows = zip(CONDITIONS, table, strict=False)
    return {_row_key(model, condition): float(line[column]) for condition, line in rows}


def paper_rows(model: str, benchmark: str) -> tuple[dict[str, Cell], ...]:
    """Accuracy by row, overall and by type of question, as the report prints it."""
    rows: dict[str, dict[str, Cell]] = {
        condition: {"condition": condition, "accuracy": value}
        for condition, value in overall(model, benchmark).items()
    }
    lines = _BY_TYPE.get((model, benchmark), "").strip().splitlines()
    for condition, line in zip(_TYPE_CONDITIONS, lines, strict=False):
        types, figures = _TYPES[benchmark].split(", "), map(float, line.split())
        rows[_row_key(model, condition)] |= dict(zip(types, figures, strict=True))
    return tuple(rows.values())


def consistent_rows(model: str) -> tuple[dict[str, Cell], ...]:
    """The figures of table 3, and of section 5.2 for FrozenBiLM."""
    plain: dict[str, Cell] = {"condition": "baseline"}
    plain |= dict(zip(CONSISTENT, _CONSISTENT[model], strict=True))
    if model != "FrozenBiLM":
        return (plain,)
    averaged: dict[str, Cell] = {"condition": merged_key("video")}
    return plain, averaged | _CONSISTENT_AVERAGED


def _row_key(model: str, condition: str) -> str:
    return merged_key(AVERAGED[model]) if condition == "QUAG-attention" else condition
