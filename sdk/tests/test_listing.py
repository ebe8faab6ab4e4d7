"""Lists in replies of language models, in the forms that they come in."""

import json
import time

import pytest
from hypothesis import given, strategies as st

from cuescope_sdk.language._proposing import (
    IN_SENTENCES,
    MOST_NAMES,
    PREPOSITIONS,
    clean_name,
    parse_list,
    proposal_prompts,
    singular,
)
from cuescope_sdk.language._yes_no import parse_yes_no

NAMES = ["tree branch", "rope", "moss"]
NOT_IN_NAMES = {
    *IN_SENTENCES,
    *PREPOSITIONS,
    "a",
    "an",
    "the",
    "and",
    "or",
    "some",
    "any",
    "other",
    "various",
    "several",
    "many",
}
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=9).filter(
    lambda word: word not in NOT_IN_NAMES
)
NAME = st.lists(WORD, min_size=1, max_size=3).map(" ".join)
FORMS = {
    "numbers": lambda names: "\n".join(
        f"{i}. {name}" for i, name in enumerate(names, 1)
    ),
    "parentheses": lambda names: "\n".join(
        f"({i}) {name}" for i, name in enumerate(names, 1)
    ),
    "bullets": lambda names: "\n".join(f"- **{name.title()}**" for name in names),
    "remarks": lambda names: "\n".join(
        f"* {name}: it is often there, and green" for name in names
    ),
    "lines": "\n".join,
    "commas": ", ".join,
    "sentence": lambda names: "Sure! Here they are: " + ", ".join(names) + ".",
    "one line": lambda names: " ".join(
        f"{i}. {name}" for i, name in enumerate(names, 1)
    ),
    "table": lambda names: "\n".join(
        f"| {i} | {name} |" for i, name in enumerate(names, 1)
    ),
    "json": json.dumps,
    "fenced": lambda names: (
        f"Of course:\n```json\n{json.dumps({'cues': list(names)}, indent=1)}\n```"
    ),
    "wide marks": lambda names: "、".join(names),
    "chatty": lambda names: (
        "Here are the names:\n\n## Names\n"
        + "\n".join(f"• {n}" for n in names)
        + "\n\nLet me know if you need more!"
    ),
}


@pytest.mark.parametrize("form", FORMS)
@given(names=st.lists(NAME, min_size=1, max_size=6, unique=True))
def test_every_form_gives_the_names(form: str, names: list[str]) -> None:
    assert parse_list(FORMS[form](names)) == names
    assert parse_list(FORMS[form]([*names, *names])) == names


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "None.",
        "N/A",
        "I'm sorry, I can't help with that.",
        "Sure!",
        "Here is the list:",
        "[]",
        "{}",
        "**Things:**",
        "- **Things:**",
        "In most kitchens, a toaster sits on a counter, near a window, where people often eat.",
        "A toaster is a thing that is used to toast bread and that is found in kitchens",
        "<think>a rope\na tree",
        "1.\n2.\n3.",
        "---\n***",
        "## Things",
    ],
)
def test_prose_and_nothing_give_no_names(reply: str) -> None:
    assert parse_list(reply) == []


def test_a_reply_without_end_gives_the_first_names() -> None:
    """Each name is looked for in images, and asked about."""
    names = [f"cup {chr(97 + number % 26)}{number}" for number in range(MOST_NAMES + 9)]
    assert parse_list(json.dumps(names)) == names[:MOST_NAMES]
    # brackets leave gaps, and a search in a long gap took seconds
    started = time.monotonic()
    assert parse_list("(A) " * 50_000) == []
    assert time.monotonic() - started < 0.5


def test_mixed_replies() -> None:
    assert parse_list(
        "<think>hm, a dog?</think>Indoors:\n- sofa/couch\n- a cup of coffee (hot, big)\n"
        "**Outdoors**: fence, hills and the sea"
    ) == ["sofa", "couch", "cup of coffee", "fence", "hills", "sea"]
    assert parse_list("1、树枝\n2、绳子\n3、岩石") == ["树枝", "绳子", "岩石"]
    assert parse_list("1) Bäume\n2) Äste") == ["bäume", "äste"]
    assert parse_list("[1] rope\n[2] Rope\n[3] ropes") == ["rope", "ropes"]


def test_a_name_is_cleaned() -> None:
    told = {
        "  **The Tree-Branch** (a big one)": "tree-branch",
        "“Rope” – for climbing": "rope",
        "Child's bicycle.": "child's bicycle",
        "\uff2d\uff2f\uff33\uff33": "moss",
        "The few. Of them": "few",
        "Kitchen\tcounter: where it stands": "kitchen counter",
        "rope\ud800\x00": "rope",
    }
    assert {text: clean_name(text) for text in told} == told
    for text in (
        "",
        "12",
        "I see a tree",
        "a thing that stands on top",
        "in a kitchen",
        "…",
        "x" * 50,
    ):
        assert clean_name(text) is None, text


@given(
    st.text()
    | st.lists(st.text()).map("\n- ".join)
    | st.text('[{":,]}1.- \nab', max_size=60)
)
def test_any_reply_gives_clean_names_once(reply: str) -> None:
    names = parse_list(reply)
    assert len(set(names)) == len(names)
    assert all(
        clean_name(name) == name and name.encode() and name == name.strip()
        for name in names
    )


def test_a_reply_that_nests_without_end() -> None:
    assert parse_list("[" * 100_000) == []
    assert parse_list("[" * 900 + '"rope"' + "]" * 900) in (["rope"], [])
    assert parse_list('{"a":' * 100_000) == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "reply",
    [
        "(" * 300_000,
        "(cup " * 100_000,
        "cup" + " " * 300_000 + "plate",
        "[" * 300_000,
        '{"a":' * 100_000,
        "- " * 200_000,
        "1. " * 100_000,
        "answer" + " " * 300_000 + "x",
        "<think>" * 50_000,
    ],
)
def test_no_reply_takes_long_to_read(reply: str) -> None:
    parse_list(reply)
    parse_yes_no(reply)
    clean_name(reply)


def test_a_long_list_is_read_whole() -> None:
    names = [
        f"z{first}{second}z cup" for first in "bcdfghjklm" * 3 for second in "aeiou" * 3
    ]
    assert set(parse_list(json.dumps(names * 3))) == set(names)
    assert parse_list("- red cup \t  and   plate") == parse_list("- red cup and plate")


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("trees", "tree"),
        ("kitchen counters", "kitchen counter"),
        ("cups of tea", "cup of tea"),
        ("leaves", "leaf"),
        ("bookshelves", "bookshelf"),
        ("women", "woman"),
        ("mice", "mouse"),
        ("countertops", "countertop"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("buses", "bus"),
        ("sunglasses", "sunglasses"),
        ("building", "building"),
        ("painting", "painting"),
        ("saw", "saw"),
        ("moss", "moss"),
        ("people", "people"),
        ("boxes of matches", "box of matches"),
        ("gloves", "glove"),
        ("绳子", "绳子"),
    ],
)
def test_only_plurals_of_the_head_change(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


def test_four_ways_to_ask() -> None:
    asked = proposal_prompts("water ouzel", 9)
    assert len(set(asked)) == 4
    assert all('"water ouzel"' in prompt and " 9 names" in prompt for prompt in asked)
