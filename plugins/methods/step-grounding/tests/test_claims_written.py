"""Claims that a text generator writes down, and what becomes of answers that cannot be read."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuescope_sdk import Report, UserError
from cuescope_sdk.grounding import Claim
from cuescope_step_grounding.claims import Clock, ParserReader, WrittenReader, parser
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.claims.readers import claims_in
from cuescope_testing import FakeTextGenerator

CLOCK = Clock(10, tuple(float(second) for second in range(10)))
OPEN = Path(__file__).with_name("open_steps.jsonl")


class Scripted:
    """Answers each prompt as written; keeps the prompts."""

    def __init__(self, *answers: str) -> None:
        self._answers, self.prompts = answers, list[str]()

    def generate(self, prompts: Sequence[str]) -> list[str]:
        self.prompts += prompts
        return list(self._answers)


def reader(*answers: str) -> WrittenReader:
    return WrittenReader(Scripted(*answers), "scripted", parser())


def lines_of(claims: Sequence[Sequence[Any]]) -> str:
    """Labelled claims as a model would write them."""
    rows: list[dict[str, Any]] = []
    number: dict[str, int] = {}
    for kind, *said in sorted(claims, key=lambda claim: claim[0].endswith("temporal")):
        row: dict[str, Any] = {
            "kind": kind.removeprefix("not "),
            "negated": kind.startswith("not "),
        }
        if row["kind"] == "temporal":
            first, row["predicate"], second = said
            row |= {
                "first": number.get(json.dumps(first)),
                "second": number.get(json.dumps(second)),
            }
            if not (row["first"] and row["second"]):  # an event of the step before
                continue
        elif row["kind"] == "ego-motion":
            row["predicate"] = said[0]
        else:
            row |= dict(zip(("subject", "predicate", "object"), said, strict=False))
        rows.append(row)
        number[json.dumps([kind, *said])] = len(rows)
    return "\n".join(map(json.dumps, rows)) or "none"


def key_of(claim: Claim) -> tuple[Any, ...]:
    if claim.kind == "temporal":
        return (claim.kind, *(key_of(part) for part in claim.parts), claim.predicate)
    return (claim.kind, claim.negated, claim.subject, claim.predicate, claim.object)


def test_a_generator_that_writes_the_labels_is_read_without_loss() -> None:
    rows = [json.loads(line) for line in OPEN.read_text("utf-8").splitlines()]
    answers = [lines_of(row["claims"]) for row in rows]
    written = reader(*answers)
    read = written.read([([row["step"]], CLOCK) for row in rows])
    assert written.unreadable == 0
    assert written.steps == len(rows)
    for row, answer, [step] in zip(rows, answers, read, strict=True):
        wanted = [] if answer == "none" else answer.splitlines()
        assert len({key_of(claim) for claim in step}) == len(wanted), row["step"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The man opens the door.",
        '{"kind": "entity"}',
        '{"kind": "thing", "subject": "cup"}',
        '{"kind": "entity", "subject": "cup", "colour": "red"}',
        '{"kind": "entity", "subject": 3}',
        '{"kind": "count", "subject": "cup", "predicate": "many"}',
        '{"kind": "ego-motion", "predicate": "dance"}',
        '{"kind": "relation", "subject": "cup", "predicate": "on"}',
        '{"kind": "temporal", "first": 1, "predicate": "before", "second": 2}',
        '{"kind": "entity", "subject": "cup"}\nand so on',
        "[" * 5000,
        '[{"kind": "entity", "subject": "cup"}]',
    ],
)
def test_where_an_answer_cannot_be_read_the_parser_reads_the_step(answer: str) -> None:
    written = reader(answer)
    [[step]] = written.read([(["A man opens the box."], CLOCK)])
    assert {claim_words(claim) for claim in step} == {
        "man",
        "box",
        "man: open box",
    }
    assert written.unreadable == 1
    assert "1 of 1 steps by spaCy" in written.title


def test_without_a_parser_such_a_step_claims_nothing_and_is_counted() -> None:
    written = WrittenReader(Scripted("The man opens the door.", "none"), "scripted")
    [[first, second]] = written.read([(["A man opens the box.", "He smiles."], CLOCK)])
    assert first == second == ()
    assert written.title.endswith("1 of 2 steps unreadable: they claim nothing")


def test_an_answer_may_stand_in_a_fence_and_say_none() -> None:
    [cup] = (
        claims_in(
            '```json\n{"kind": "entity", "subject": "The Red  Cup"}\n```', "", None
        )
        or ()
    )
    assert cup.subject == "red cup"
    assert claims_in("none", "", None) == ()


def test_times_are_read_by_rule_and_counts_know_what_is_said_of_them() -> None:
    answer = "\n".join(
        [
            '{"kind": "count", "subject": "cup", "predicate": "3"}',
            '{"kind": "relation", "subject": "cup", "predicate": "on", "object": "the table"}',
        ]
    )
    [[step]] = reader(answer).read(
        [(["In frames 2 and 3, three cups are on the table."], CLOCK)]
    )
    count, relation = step
    assert count.frames == relation.frames == (1, 2)
    assert count.parts == (relation,)


def test_a_prompt_shows_the_steps_before_and_one_call_asks_for_all() -> None:
    generator = Scripted("none", "none", "none")
    written = WrittenReader(generator, "scripted", parser())
    written.read([(["A man sits.", "He {smiles}."], CLOCK), (["A dog barks."], CLOCK)])
    assert len(generator.prompts) == 3
    assert (
        "Description before: A man sits.\nLast step: He {smiles}.\n"
        in generator.prompts[1]
    )
    assert (
        "Description before: (nothing)\nLast step: A dog barks.\n"
        in generator.prompts[2]
    )


def test_no_step_asks_for_nothing() -> None:
    generator = Scripted()
    assert WrittenReader(generator, "scripted", parser()).read([([], CLOCK)]) == [[]]
    assert ParserReader(parser()).read([([], CLOCK)]) == [[]]


def test_an_audit_with_a_generator_says_who_wrote_the_claims(
    audited: Callable[..., Report],
) -> None:
    with pytest.raises(UserError, match="add --tool text-generator=SPEC"):
        audited({}, {"samples": 2}, extract="llm", perturbations=())
    report = audited(
        {},
        {"samples": 2},
        tools={"text-generator": FakeTextGenerator},
        extract="llm",
        perturbations=(),
    )
    # What the fake writes is no claim, so that the parser reads every step.
    told = str(report.notes["claims parsed by"])
    assert told.startswith("text generator ")
    assert "steps by spaCy" in told
