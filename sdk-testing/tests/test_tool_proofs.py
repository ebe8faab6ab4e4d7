"""Every check of the tool contract catches a tool that is bad in just that way."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pytest
from PIL import Image
from pydantic import ConfigDict, Field

from cuescope_sdk import Context, Detection, Frame, ImageEdit, Options, Plugin, Words
from cuescope_sdk.grounding import Case, Judgement
from cuescope_testing import (
    FAKE_TOOLS,
    FakeDetector,
    FakeSegmenter,
    FakeTextGenerator,
    ToolContract,
)
from cuescope_testing._fake_tools import (
    FakeClaimVerifier,
    FakeEmbedder,
    FakeImageEditor,
    FakeNamer,
    FakeProposer,
    FakeSentenceEncoder,
)

from .contract_proofs import checks_of, expect_caught, failed


def having(
    tool: type[Plugin], method: str, change: Callable[[Any], Any]
) -> type[Plugin]:
    """A tool whose results are changed."""

    def changed(self: Any, *inputs: Any) -> Any:
        return change(getattr(tool, method)(self, *inputs))

    return type("Bad", (tool,), {method: changed})


def detecting(change: Callable[[Detection], dict[str, Any]]) -> type[Plugin]:
    """A detector whose detections are changed one by one."""
    return having(
        FakeDetector,
        "detect",
        lambda frames: [
            tuple(d.model_copy(update=change(d)) for d in frame) for frame in frames
        ],
    )


def judging(change: Callable[[Judgement], dict[str, Any]]) -> type[Plugin]:
    """A verifier whose judgements are changed one by one."""
    return having(
        FakeClaimVerifier,
        "judge",
        lambda cases: [
            [j.model_copy(update=change(j)) for j in case] for case in cases
        ],
    )


class Deaf(FakeClaimVerifier):
    """Does not hear the "no"."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        plain = [
            (sample, [claim.model_copy(update={"negated": False}) for claim in claims])
            for sample, claims in cases
        ]
        return super().judge(plain)


class Loose(Options):
    model_config = ConfigDict(extra="ignore")


class Unexplained(Options):
    depth: int = 3


class Unmarked(Options):
    notes: str = Field("", description="goes where it likes")


class Needy(Options):
    weights: Annotated[str, Words()] = Field(description="where they are")


def with_options(options: type[Options]) -> type[Plugin]:
    return type("Bad", (FakeDetector,), {"Options": options})


class Seeder(FakeDetector):
    def __init__(self, options: Options, context: Context) -> None:
        super().__init__(options, context)
        random.seed(0)


class Idle(Plugin):
    """Has no role."""


class Moody(FakeSentenceEncoder):
    """Another answer each time."""

    calls = 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return super().encode([f"{text} {self.calls}" for text in texts])


class Reborn(FakeSentenceEncoder):
    """Other weights each time it is built."""

    def __init__(self, options: Options, context: Context) -> None:
        super().__init__(options, context)
        self.salt = str(np.random.default_rng().integers(10**9))

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return super().encode([f"{text} {self.salt}" for text in texts])


class Crowded(FakeSentenceEncoder):
    """Looks at the whole batch."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return super().encode([f"{text} {len(texts)}" for text in texts])


class Sorter(FakeTextGenerator):
    """Sorted for speed, and never put back."""

    def generate(self, prompts: Sequence[str]) -> list[str]:
        return sorted(super().generate(prompts))


class Nameless(FakeDetector):
    """Finds everything it knows where nothing is asked for."""

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        return super().detect(frames, names or ("red corner", "blue corner"))


class SameKey(FakeImageEditor):
    """Other pixels under the key of the original."""

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        edited = super().edit(edits)
        return [
            Frame(old.frame.key, new.loader)
            for old, new in zip(edits, edited, strict=True)
        ]


class Repeating(FakeProposer):
    """Names again what it was told of."""

    def propose_more(self, label: str, told: Mapping[str, float]) -> list[str]:
        """The same names."""
        return list(told)


class Spilling(FakeImageEditor):
    """Paints beyond the mask."""

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        return super().edit([replace(edit, mask=None) for edit in edits])


def smaller(image: Image.Image) -> Image.Image:
    return image.resize((4, 4))


# check -> (a tool that it catches, the other checks that cannot help but catch it too)
PROOFS = [
    ("test_builds", with_options(Needy), {"*"}),
    ("test_refuses_unknown_options", with_options(Loose), set()),
    ("test_declares_its_options", with_options(Unexplained), set()),
    ("test_declares_its_options", with_options(Unmarked), set()),
    ("test_leaves_global_randomness_alone", Seeder, set()),
    ("test_gives_a_result_for_each_input", Idle, set()),
    (
        "test_gives_a_result_for_each_input",
        having(FakeTextGenerator, "generate", lambda texts: texts or ["Nothing."]),
        set(),
    ),
    ("test_gives_the_same_in_any_batch", Sorter, set()),
    ("test_gives_the_same_in_any_batch", Moody, {"*"}),
    ("test_gives_the_same_in_any_batch", Crowded, set()),
    ("test_gives_the_same_in_any_batch", Reborn, set()),
    (
        "test_detects_what_was_asked_for",
        detecting(lambda d: {"box": (0, 0, 9, 9)}),
        set(),
    ),
    ("test_detects_what_was_asked_for", Nameless, set()),
    (
        "test_segments_at_the_size_of_the_frame",
        having(FakeSegmenter, "segment", lambda masks: [m[:, :4] for m in masks]),
        set(),
    ),
    (
        "test_generates_text",
        having(FakeTextGenerator, "generate", lambda texts: [" " for _ in texts]),
        set(),
    ),
    (
        "test_encodes_unit_rows",
        having(FakeSentenceEncoder, "encode", lambda rows: rows * 2),
        set(),
    ),
    (
        "test_encodes_unit_rows",
        having(
            FakeSentenceEncoder,
            "encode",
            lambda rows: np.eye(16)[np.zeros(len(rows), int)],
        ),
        set(),
    ),
    (
        "test_edits_under_the_mask_alone",
        having(
            FakeImageEditor,
            "edit",
            lambda frames: [f.derive("small", smaller) for f in frames],
        ),
        set(),
    ),
    ("test_edits_under_the_mask_alone", Spilling, set()),
    ("test_edits_under_the_mask_alone", SameKey, set()),
    (
        "test_proposes_names",
        having(FakeProposer, "propose", lambda names: [*names, names[0]]),
        set(),
    ),
    ("test_names_more_by_results", Repeating, set()),
    (
        "test_guesses_names_that_fit_the_group_better",
        having(
            FakeNamer,
            "name_groups",
            lambda guesses: [
                g and g.model_copy(update={"elsewhere": 9.0}) for g in guesses
            ],
        ),
        set(),
    ),
    (
        "test_embeds_in_one_space",
        having(FakeEmbedder, "embed", lambda rows: np.full_like(rows, np.nan)),
        {"*"},
    ),
    (
        "test_gives_patches_of_an_eye",
        having(FakeEmbedder, "patch_features", lambda maps: [m[0] for m in maps]),
        set(),
    ),
    (
        "test_embeds_in_one_space",
        type("Bad", (FakeEmbedder,), {"fingerprint": None}),
        set(),
    ),
    (
        "test_judges_each_claim",
        having(FakeClaimVerifier, "judge", lambda cases: [case[:-1] for case in cases]),
        set(),
    ),
    (
        "test_judges_each_claim",
        judging(lambda judgement: {"reason": "abstract"}),
        set(),
    ),
    ("test_judges_each_claim", judging(lambda judgement: {"frame": 7}), set()),
    ("test_judges_a_denial_the_other_way", Deaf, set()),
]


def contract_of(tool: type) -> type[ToolContract]:
    return type("Contract", (ToolContract,), {"plugin": tool})


def test_every_check_is_proved() -> None:
    assert set(ToolContract.checks()) == checks_of(PROOFS)


@pytest.mark.parametrize("role", FAKE_TOOLS)
def test_the_fake_tools_are_healthy(role: str) -> None:
    contract = contract_of(FAKE_TOOLS[role])
    assert contract().roles == [role]
    assert failed(contract) == set()


@pytest.mark.parametrize(("check", "tool", "others"), PROOFS)
def test_check_catches_its_bad_tool(check: str, tool: type, others: set[str]) -> None:
    expect_caught(contract_of(tool), check, others)
