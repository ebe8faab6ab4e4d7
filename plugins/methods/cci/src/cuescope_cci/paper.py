"""Tables 1 and 2 of the paper: AUC of deletion and insertion, CLIP ViT-B/16."""

from cuescope_sdk import Cell

NAMES = {
    "raw-attention": "raw attention",
    "rollout": "Rollout",
    "grad-cam": "Grad-CAM",
    "game": "GAME",
    "maskclip": "MaskCLIP",
    "clip-surgery": "CLIP-Surgery",
    "m2ib": "M2IB",
    "rise": "RISE",
    "grad-eclip-no-lambda": "Grad-ECLIP w/o lambda",
    "grad-eclip": "Grad-ECLIP",
    "cci": "CCI",
    "random": "random",
}
TOP = ("@1", "@5")

# Ground truth @1 @5, prediction @1 @5: deletion, then insertion.
_TABLE_1 = """
raw-attention         .3831 .6239 -     -     .2492 .4195 -     -
rollout               .4082 .6556 -     -     .2803 .4665 -     -
grad-cam              .3417 .5628 .3518 .5817 .2682 .4454 .2526 .4206
game                  .3356 .5734 .3497 .5938 .3611 .5636 .3425 .5384
maskclip              .2848 .4885 .2886 .4957 .3335 .5351 .3275 .5267
clip-surgery          .3115 .5235 .3217 .5412 .3832 .6021 .3727 .5719
m2ib                  .3630 .5953 .3633 .5951 .3351 .5411 .3347 .5410
grad-eclip-no-lambda  .2535 .4379 .2634 .4568 .3715 .5831 .3528 .5556
grad-eclip            .2464 .4272 .2543 .4420 .3838 .5993 .3672 .5749
cci                   .1809 .3276 .1789 .3318 .4175 .6518 .3893 .6201
"""

# Image retrieval @1 @5, text retrieval @1 @5: deletion, then insertion.
_TABLE_2 = """
raw-attention         .1708 .3554 .1923 .3720 .1247 .2552 .1544 .2969
rollout               .1948 .3946 .2268 .4238 .1294 .2932 .1753 .3503
grad-cam              .1717 .3502 .2161 .4008 .1027 .2216 .1152 .2327
game                  .1706 .3552 .1982 .3800 .1537 .3083 .2097 .3735
maskclip              .1321 .2841 .1516 .2949 .1423 .2953 .1891 .3514
clip-surgery          .1794 .3652 .2381 .4292 .1419 .2941 .1771 .3384
m2ib                  .1797 .3671 .2057 .3905 .1469 .3004 .2058 .3691
grad-eclip-no-lambda  .1390 .2940 .1827 .3386 .1403 .2895 .1735 .3279
grad-eclip            .1246 .2670 .1550 .2933 .1576 .3203 .2056 .3761
cci                   .0650 .1056 .0677 .1184 .1812 .3513 .2224 .3943
"""


def paper_rows(task: str, direction: str) -> tuple[dict[str, Cell], ...]:
    """A half of table 1 ("classification") or 2 ("retrieval"), as the bench prints it."""
    of_images = task == "classification"
    table, prefixes = (_TABLE_1, ("GT", "Pred")) if of_images else (_TABLE_2, ("IR", "TR"))
    columns = [f"{prefix}{top}" for prefix in prefixes for top in TOP]
    first = 0 if direction == "deletion" else len(columns)
    rows = []
    for line in table.strip().splitlines():
        name, *cells = line.split()
        figures = [None if cell == "-" else float(cell) for cell in cells]
        row: dict[str, Cell] = {"explainer": NAMES[name]}
        rows.append(row | dict(zip(columns, figures[first : first + len(columns)], strict=True)))
    return tuple(rows)
