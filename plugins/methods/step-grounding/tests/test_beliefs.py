"""Beliefs, what they are compared by, and the threshold of being the same."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from cuescope_sdk.grounding import Claim
from cuescope_sdk.language import BagOfWords
from cuescope_step_grounding.beliefs import (
    TAU,
    recalled_claims,
    similarities,
    transitions,
)
from cuescope_step_grounding.claims.contents import claim_words, moment_words

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
MINILM = ASSETS / "all-MiniLM-L6-v2"


def entity(name: str, *frames: int) -> Claim:
    return Claim(kind="entity", text="", subject=name, frames=frames or None)


def test_beliefs_are_judged_when_the_next_step_is() -> None:
    order = Claim(
        kind="temporal", text="", predicate="before", parts=(entity("a"), entity("b"))
    )
    first, last = transitions(
        [[entity("a", 0), order], [], [entity("b", 2, 3)], [entity("c")]]
    )
    assert (first.before, first.after) == ("a; a before b", "b")
    assert [claim.frames for claim in first.kept] == [(2, 3), None]
    assert [claim.frames for claim in first.new] == [(2, 3)]
    assert [claim.frames for claim in last.kept] == [None]


def test_a_state_keeps_what_stands() -> None:
    """The chair goes at frame 2 and comes again at 3, the cup stays; a said thing never lapses."""
    steps = [
        [entity("chair", 0)],
        [entity("cup", 1)],
        [],
        [entity("man", 2)],
        [entity("chair", 3)],
    ]
    asked = []

    def lapses(claim: Claim) -> bool:
        asked.append(claim)
        return claim.subject == "chair" and claim.frames == (2,)

    found = transitions(steps, lapses)
    assert [(t.before, t.after) for t in found] == [
        ("chair", "chair; cup"),
        ("chair; cup", "cup; man"),
        ("cup; man", "cup; man; chair"),
    ]
    assert [{c.frames for c in (*t.kept, *t.new)} for t in found] == [
        {(1,)},
        {(2,)},
        {(3,)},
    ]
    judged = recalled_claims(steps)
    assert {*asked, *(c for t in found for c in (*t.kept, *t.new))} <= set(judged)
    assert transitions(steps, lambda claim: True) == transitions(steps)


def test_the_same_said_again_is_one_belief() -> None:
    again = entity("cup", 1).model_copy(update={"text": "the cup, still"})
    for lapses in (None, lambda claim: True):
        (found,) = transitions([[entity("cup", 0)], [again]], lapses)
        assert found.before == found.after == "cup"
        assert found.kept == found.new == (again,)
        assert {*found.kept, *found.new} <= set(
            recalled_claims([[entity("cup", 0)], [again]])
        )


def test_a_stable_scene_told_thing_by_thing_is_consistent() -> None:
    """Each step says something else that is so, and stays so."""
    names = ("red chair", "table", "blue cup", "window", "man", "book")
    steps = [[entity(name, at)] for at, name in enumerate(names)]
    near = {
        mode: similarities(
            [(t.before, t.after) for t in transitions(steps, lapses)], BagOfWords()
        )
        for mode, lapses in {"state": lambda claim: False, "step": None}.items()
    }
    assert near["state"].mean() > 0.8 > 0.2 > near["step"].mean()


def test_claims_in_words() -> None:
    claims = [
        Claim(
            kind="attribute", text="", subject="door", predicate="open", negated=True
        ),
        Claim(kind="action", text="", subject="man", predicate="pick up", object="cup"),
        Claim(kind="ego-motion", text="", predicate="turn left"),
        entity("dog").model_copy(update={"negated": True}),
    ]
    words = ["not (door is open)", "man: pick up cup", "camera: turn left", "no dog"]
    assert list(map(claim_words, claims)) == words
    assert [moment_words(entity("a", *f)) for f in ((), (2,), (2, 3, 4))] == [
        "",
        "frame 3",
        "frames 3 to 5",
    ]
    assert (
        moment_words(Claim(kind="entity", text="", subject="a", frames=()))
        == "no such frame"
    )


class Letters:
    """Unit rows of how often each letter is said."""

    def encode(self, texts: list[str]) -> np.ndarray:
        counts = np.array(
            [[text.count(chr(97 + i)) for i in range(26)] for text in texts], float
        )
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True))


def test_similarity_is_the_cosine_of_rows() -> None:
    found = similarities([("ab", "ab"), ("ab", "cd"), ("aab", "ab")], Letters())
    assert found == pytest.approx([1, 0, 3 / np.sqrt(10)])
    assert len(similarities([], Letters())) == 0


@pytest.mark.real
@pytest.mark.skipif(
    not MINILM.exists(), reason="needs `python tests/real_assets.py minilm`"
)
def test_the_papers_encoder_at_the_papers_threshold() -> None:
    """Section 3.4: 89 % of labelled pairs at 0.8."""
    lines = Path(__file__).with_name("step_pairs.jsonl").read_text("utf-8")
    rows = list(map(json.loads, lines.splitlines()))
    texts = [(row["first"], row["second"]) for row in rows]
    same = np.array([row["same"] for row in rows])
    near = similarities(texts, MiniLM(MINILM))
    print(f"all-MiniLM-L6-v2: accuracy {((near > TAU) == same).mean():.0%}")
    assert ((near > TAU) == same).mean() >= 0.89


class MiniLM:
    """The released weights: means of the last layer's tokens."""

    def __init__(self, folder: Path) -> None:
        from safetensors.torch import load_file
        from transformers import BertConfig, BertModel, BertTokenizerFast

        config = BertConfig(
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
        )
        self.tokenizer = BertTokenizerFast(str(folder / "vocab.txt"))
        self.network = BertModel(config, add_pooling_layer=False).eval()
        missing = self.network.load_state_dict(
            load_file(folder / "model.safetensors"), strict=False
        ).missing_keys
        if missing:
            raise ValueError(f"weights without {missing}")

    def encode(self, texts: list[str]) -> np.ndarray:
        import torch

        with torch.no_grad():
            batch = self.tokenizer(texts, padding=True, return_tensors="pt")
            states = self.network(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None]
        rows = (states * mask).sum(1) / mask.sum(1)
        return np.asarray(torch.nn.functional.normalize(rows))
