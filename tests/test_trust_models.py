"""No plugin runs code of a model folder or hub id unasked, and nobody is asked on stdin."""

import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import numpy as np
import pytest
from canary import CONFIGS, Answers, write_canary

from cuescope_core.errors import PlanStopped, UserError
from cuescope_core.registry import Entry, Registry
from cuescope_sdk import Context, Frame, Sample, Trial
from cuescope_testing import FakeDataset

REGISTRY = Registry()
ENTRIES = [entry for kind in ("model", "tool") for entry in REGISTRY.of_kind(kind)]
FILES = (
    "canary.pth",
    "canary.pt",
    "canary.ckpt",
    "canary.npz",
    "canary.npy",
    "canary.yaml",
)
SPECS = (
    "owl:{}",
    "coco-detector:{}",
    "open-clip:{}",
    "transformers:{}",
    "transformers-llm:{}",
)
HUB = "canary/{}-{}"
Place = Callable[[str, str], str]  # of a kind and its weights


@pytest.fixture(scope="module")
def marker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that code of a canary writes as it runs."""
    return tmp_path_factory.mktemp("marker") / "ran"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, marker: Path) -> Path:
    """A hub cache with every canary in it."""
    cache = tmp_path_factory.mktemp("hub")
    for kind in CONFIGS:
        for weights in ("pickle", "tensors"):
            home = cache / f"models--{HUB.format(kind, weights).replace('/', '--')}"
            (home / "refs").mkdir(parents=True)
            (home / "refs" / "main").write_text("abc")
            write_canary(home / "snapshots" / "abc", marker, kind, weights)
    return cache


@pytest.fixture
def answers(
    hub: Path, marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Answers]:
    """Somebody says yes to everything, and the network is off; afterwards nothing has run."""
    stdin = Answers()
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(hub))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    marker.unlink(missing_ok=True)
    yield stdin
    assert not marker.exists(), f"ran: {marker.read_text()}"
    assert not stdin.reads, "somebody was asked on standard input"


def option_sets(entry: Entry, place: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Options that hand the plugin a canary wherever it takes a path, hub id or SPEC."""
    fields = REGISTRY.load(entry).Options.model_fields
    texts = {name: str(field.description) for name, field in fields.items()}
    files = {name for name, field in fields.items() if "Path" in str(field.annotation)}
    models = {
        name for name in texts if "hub id" in texts[name] or "hf-hub:" in texts[name]
    }
    specs = {name for name in texts if texts[name].startswith("SPEC")}
    required = {name for name in files if fields[name].is_required()}
    if entry.name == "open-clip" and not Path(place).exists():
        place = f"hf-hub:{place}"
    if models and not required:
        yield dict.fromkeys(models, place)
    for file in FILES if files else ():
        for names in {frozenset(files), frozenset(required)} - {frozenset()}:
            yield {
                **dict.fromkeys(models, place),
                **dict.fromkeys(names, folder / file),
            }
    if files:
        yield {**dict.fromkeys(models, place), **dict.fromkeys(files, folder)}
    for spec in SPECS if specs else ():
        plural = {name for name in specs if "SPECs" in texts[name]}
        filled = spec.format(place)
        yield {name: (filled,) if name in plural else filled for name in specs}


def use(plugin: Any) -> None:
    """Everything that a method might ask of it, whatever comes of it."""
    frame = Frame.from_array(np.zeros((16, 16, 3), dtype=np.uint8))
    sample = Sample(
        key="a", frames=(frame,) * 4, question="a", choices=("a", "b"), label="a"
    )
    calls: dict[str, tuple[Any, ...]] = {
        "open_weights": (),
        "embed_texts": (["a"],),
        "embed_choices": (["a", "b"],),
        "respond": ([Trial(sample=sample)],),
        "encode": (["a"],),
        "generate": (["a"],),
        "detect": ([frame], ["a"]),
        "segment": ([frame], ["a"]),
        "propose": ("bird",),
    }
    for name, arguments in calls.items():
        with suppress(UserError, PlanStopped, AttributeError, ValueError, TypeError):
            getattr(plugin, name)(*arguments)


CANARIES = list(product(CONFIGS, ("pickle", "tensors")))
EVERY = "every canary"
# each set of options meets the canary of no known kind, and one of the others in turn
IN_TURN = "one in turn"


def let_loose(
    entry: Entry, place: Place, hub: Path, canaries: str, **context: Any
) -> int:
    """Build and use the plugin on canaries; how often."""
    turn = ENTRIES.index(entry)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = Context(registry=REGISTRY, device="cpu", **context)
        data = FakeDataset(FakeDataset.Options(), given)
        given = replace(given, dataset=data)
        tries = 0
        for number, (kind, weights) in enumerate(CANARIES):
            folder = snapshot(hub, kind, weights)
            sets = enumerate(option_sets(entry, place(kind, weights), folder), turn)
            for place_in_turn, options in sets:
                is_next = (number - place_in_turn) % len(CANARIES) == 0
                if canaries == EVERY or is_next or CANARIES[0] == (kind, weights):
                    tries += 1
                    with suppress(UserError, PlanStopped):
                        use(given.build(entry.kind, entry.name, options))
        return tries


def snapshot(hub: Path, kind: str, weights: str) -> Path:
    return (
        hub
        / f"models--{HUB.format(kind, weights).replace('/', '--')}"
        / "snapshots"
        / "abc"
    )


each_plugin = pytest.mark.parametrize(
    "entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.name}"
)
few_or_all = pytest.mark.parametrize(
    "canaries", [IN_TURN, pytest.param(EVERY, marks=pytest.mark.long)]
)


@few_or_all
@each_plugin
def test_no_folder_runs_code(
    entry: Entry, hub: Path, answers: Answers, canaries: str
) -> None:
    let_loose(
        entry, lambda kind, weights: str(snapshot(hub, kind, weights)), hub, canaries
    )


@few_or_all
@each_plugin
def test_no_plan_runs_code(
    entry: Entry, hub: Path, answers: Answers, canaries: str
) -> None:
    let_loose(
        entry,
        lambda kind, weights: str(snapshot(hub, kind, weights)),
        hub,
        canaries,
        planning=True,
    )


@few_or_all
@each_plugin
def test_no_hub_id_runs_code(
    entry: Entry, hub: Path, answers: Answers, canaries: str
) -> None:
    let_loose(entry, HUB.format, hub, canaries)


def test_canaries_reach_every_plugin_that_takes_a_model() -> None:
    reached = {entry.name for entry in ENTRIES if [*option_sets(entry, "x", Path("x"))]}
    assert reached >= {
        *(
            "open-clip",
            "transformers",
            "transformers-vlm",
            "transformers-llm",
            "owl",
            "sam",
        ),
        *(
            "all-in-one",
            "singularity",
            "frozen-bilm",
            "just-ask",
            "coco-detector",
            "actions",
        ),
        *(
            "grounding-dino",
            "sentence-transformers",
            "image-text",
            "traces",
            "cues",
            "llm",
        ),
    }


def test_a_canary_runs_where_it_is_trusted(tmp_path: Path) -> None:
    """Else nothing above would tell anything."""
    import transformers

    marker = tmp_path / "ran"
    folder = write_canary(tmp_path / "canary", marker, "canary", "pickle")
    with suppress(Exception):
        transformers.AutoConfig.from_pretrained(folder, trust_remote_code=True)
    assert marker.exists()
    with suppress(Exception):
        import torch

        marker.unlink()
        torch.load(io.BytesIO((folder / "canary.pth").read_bytes()), weights_only=False)
    assert marker.exists()
