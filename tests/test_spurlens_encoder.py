"""SpurLens's probe of the vision encoder (appendix M), on generative models with random weights.

What a random encoder keeps of an image still tells a table from none. A probe that learns a class
where the cue goes with it leans on the cue; where it does not, there is nothing to lean on.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from cuescope.application import Runner
from cuescope_sdk import Context, Report, Request

from .tiny_models import Parts, llava_next, qwen2_vl, save_vlm

PLANTED = {"cup": ["table"], "bird": ["tree"], "car": ["road"]}


FAMILIES: dict[str, Callable[[], Parts]] = {
    "qwen2-vl": qwen2_vl,
    "llava-next": llava_next,
}
AUDITED = ["qwen2-vl", pytest.param("llava-next", marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=AUDITED)
def audited(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Report]:
    """`audited("planted")`: a model asked about scenes where a cue goes with its class."""
    place = tmp_path_factory.mktemp(request.param)
    save_vlm(FAMILIES[request.param](), place / "model")
    (place / "cues.json").write_text(json.dumps(PLANTED))
    runner = Runner(Context(cache=place / "cache", device="cpu"), place / "runs")
    return partial(_report, runner, place)


def _report(runner: Runner, place: Path, audit: str) -> Report:
    asked = Request(
        method="spurlens",
        model=f"transformers-vlm:{place / 'model'}",
        data="object-scenes",
        tools={"proposer": f"cues:{place / 'cues.json'}", "detector": "annotations"},
        method_options={
            "classes": tuple(PLANTED),
            "k": 12,
            "task": "recognition",
            "discover": 1,  # all images are ranked: twelve a side are few as it is
            "draws": 100,
            "questions": ("is there {object} ?",),
        },
        model_options={"max_new_tokens": 1},
        data_options={"audit": audit, "val": 400},
        device="cpu",
    )
    return runner.session(asked).run()


def gaps(report: Report) -> dict[str, float]:
    table = next(
        table for table in report.tables if table.title.startswith("Vision encoder")
    )
    return {str(row["class"]): float(str(row["probe's gap"])) for row in table.rows}


@pytest.mark.long
def test_a_probe_leans_on_a_cue_that_goes_with_the_class(
    audited: Callable[[str], Report],
) -> None:
    planted, independent = (gaps(audited(how)) for how in ("planted", "independent"))
    assert planted.keys() == independent.keys() == PLANTED.keys()
    assert min(planted.values()) > 0
    assert np.mean(list(planted.values())) > 25
    assert abs(np.mean(list(independent.values()))) < 15
