"""The paper's own figures (tables 1 to 4 and 11), in percent, class-wise averages."""

from collections.abc import Mapping

from cuescope_sdk import Cell

MODELS = ("Qwen2-VL", "Llama-3.2", "LLaVA-v1.6", "GPT-4o-mini")
# The benchmark that a data set says it is, and its name in the paper's tables.
BENCHMARKS = {"COCO": "COCO", "ImageNet": "ImageNet Subset", "HardImageNet": "HardImageNet"}
# (task, data set): with the cue, without, and the random baseline of appendix N, by model.
_AVERAGES: Mapping[tuple[str, str], tuple[tuple[float, float, float | None], ...]] = {
    ("recognition", "HardImageNet"): (
        (99.3, 93.4, 5.3), (93.1, 78.1, 8.5), (96.0, 82.8, 7.4), (95.0, 82.4, 9.1),
    ),
    ("recognition", "ImageNet Subset"): (
        (98.4, 91.7, 5.0), (90.6, 72.9, 9.4), (93.0, 77.3, 8.4), (95.7, 83.8, 8.3),
    ),
    ("recognition", "COCO"): (
        (95.3, 80.1, 8.7), (95.0, 80.0, 8.6), (95.6, 79.6, 8.4), (88.0, 67.6, 10.6),
    ),
    ("hallucination", "ImageNet Subset"): (
        (12.1, 0.5, None), (9.0, 0.5, None), (18.4, 1.0, None), (5.2, 0.2, None),
    ),
    ("hallucination", "COCO"): (
        (13.5, 1.8, None), (18.1, 3.8, None), (21.8, 2.7, None), (11.2, 1.4, None),
    ),
    ("drop", "HardImageNet"): ((50.2, 37.2, None), (31.5, 20.4, None), (45.7, 34.6, None)),
    ("drop", "COCO"): ((35.3, 15.1, None), (34.8, 15.1, None), (40.0, 16.4, None)),
    ("mask", "HardImageNet"): ((53.1, 35.7, None), (44.0, 27.3, None), (40.5, 31.3, None)),
}  # fmt: skip
AVERAGE_COLUMNS = ("task", "with the cue", "without", "gap", "random rankings")


def average_rows(task: str, benchmark: str | None, model: str) -> tuple[dict[str, Cell], ...]:
    """The row of a model of the paper, where the paper has this task on this data set."""
    figures = _AVERAGES.get((task, BENCHMARKS.get(benchmark or "", "")), ())
    # The paper's tables of dropped and masked objects lack GPT-4o-mini, its last model.
    by_model = dict(zip(MODELS, figures, strict=False))
    if model not in by_model:
        return ()
    with_cue, without, random = by_model[model]
    cells: tuple[Cell, ...] = (task, with_cue, without, round(with_cue - without, 1), random)
    return (dict(zip(AVERAGE_COLUMNS, cells, strict=True)),)


# Table 4: PA on HardImageNet, HR on Spurious ImageNet and on blank images.
MITIGATED = ("baseline", "ensemble", "guiding", "dual", "spurious-list", "spurious-top")
_MITIGATIONS = {
    "Qwen2-VL": """
98.1 98.5 97.5 95.2 96.5 97.0
91.9 92.4 89.3 82.3 85.9 88.9
 9.5  8.6 16.4  4.0  5.5  4.8
 1.2  1.0  0.8  0.4  0.5  0.8
 3.3  0.0  0.0  0.0  0.0  1.0
""",
    "Llama-3.2": """
95.1 96.8 95.6 95.2 73.3 95.2
84.7 87.0 87.0 84.4 63.2 85.6
11.0  7.5 15.1  7.6  4.8 10.3
 2.2  1.5  4.1  3.1  1.0  2.0
 7.0  0.0  4.7  0.0  0.7  0.6
""",
    "LLaVA-v1.6": """
91.4 92.4 99.2 89.3 94.8 89.6
85.2 86.4 91.2 72.0 81.2 82.7
12.5 11.0 24.6  5.6 11.1  9.5
 2.1  1.9  5.8  0.8  1.6  1.4
 0.0  0.0  0.0  0.0  0.0  0.0
""",
}
MITIGATION_ROWS = ("PA with the cue", "PA without", "HR with the cue", "HR without", "HR blank")


def mitigation_rows(benchmark: str | None, model: str) -> tuple[dict[str, Cell], ...]:
    """The model's part of table 4, beside audits of the paper's data sets."""
    if benchmark not in BENCHMARKS or model not in _MITIGATIONS:
        return ()
    lines = [map(float, line.split()) for line in _MITIGATIONS[model].strip().splitlines()]
    return tuple(
        {"metric": metric, **dict(zip(MITIGATED, line, strict=True))}
        for metric, line in zip(MITIGATION_ROWS, lines, strict=True)
    )
