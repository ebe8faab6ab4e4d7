"""A number with its noun goes through `count_of`, in every package: nobody reads "1 samples"."""

import re
from pathlib import Path

import pytest

from cuescope_core.amounts import count_of

ROOT = Path(__file__).parents[1]
# what is counted in sentences; a word that is missing here is not looked for
NOUNS = (
    "samples|questions|answers|pictures|findings|cues|calls|images|trials|rows|files|groups|labels|"
    "videos|frames|clips|runs|times|interventions|candidates|options|pairs|words|columns|lines|"
    "steps|parts|seeds|models|methods|cases|inputs"
)
# `{number:,} samples` or `{number} samples`, perhaps with an adjective. Of a total, a limit or an
# estimate the plural stands whatever the number is.
NO_ADJECTIVE = "of|in|and|at|is|for|or|on|has|have|it|their|groups|if|without"
COUNTED = re.compile(
    r"(?P<before>[A-Za-z]* ?)\{(?P<number>[^{}:=!]+)(?::,)?\} "
    rf"(?:(?!(?:{NO_ADJECTIVE}) )[a-z]+ )?(?:{NOUNS})\b"
)
PLURAL_ALWAYS = (
    "of ",
    "most ",
    "least ",
    "about ",
    "than ",
    "the ",
    "these ",
    "all ",
    "its ",
)
PLURAL_ALWAYS += ("first ", "many ")
# what is no number, or no number that can be 1
NO_NUMBER = re.compile(
    r"(?:names?|kind|title|model|task|url|seconds|some|between\(.*|\b[A-Z_]+)(?:\(\))?$"
)
# whoever asks whether it is 1 has words for both
ASKS = re.compile(r"== 1\b|> 1\b")


def sources() -> list[Path]:
    roots = [*ROOT.glob("core/*/src"), ROOT / "sdk/src", *ROOT.glob("plugins/*/*/src")]
    return [file for root in roots for file in sorted(root.rglob("*.py"))]


def uncounted(text: str) -> list[str]:
    """The places where a number stands beside a plural that it cannot change."""
    faults = []
    for line in text.splitlines():
        if ASKS.search(line):
            continue
        for hit in COUNTED.finditer(line):
            is_number = NO_NUMBER.search(hit["number"]) is None
            if is_number and hit["before"].lower() not in PLURAL_ALWAYS:
                faults.append(hit[0])
    return faults


def test_no_package_writes_a_number_beside_a_plural_by_hand() -> None:
    faults = [
        f"{file.relative_to(ROOT)}: {hit}"
        for file in sources()
        for hit in uncounted(file.read_text("utf-8"))
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ('f"{left_out:,} samples without a label"', 1),
        ('f"wrote {file}: {len(rows):,} distinct questions"', 1),
        ('f"{right:,} of {total:,} answers"', 0),
        ('f"{len(few)} wrong answers"', 1),
        ('f"{spec.title} answers nothing"', 0),
        ('f"{hidden} of the {case.k} images"', 0),
        ('shown = "1 frame" if count == 1 else f"{count} frames"', 0),
        ('f"at most {MOST:,} rows"', 0),
        ("f\"{count_of(left_out, 'samples')} without a label\"", 0),
    ],
)
def test_the_rule_sees_what_it_is_for(line: str, count: int) -> None:
    assert len(uncounted(line)) == count


@pytest.mark.parametrize(
    ("number", "nouns", "verb", "words"),
    [
        (1, "samples", "", "1 sample"),
        (0, "samples", "", "0 samples"),
        (1200, "distinct pictures", "were", "1,200 distinct pictures were"),
        (1, "distinct pictures", "were", "1 distinct picture was"),
        (1, "copies", "share", "1 copy shares"),
        (1, "boxes", "have", "1 box has"),
    ],
)
def test_a_noun_and_its_verb_follow_the_number(
    number: int, nouns: str, verb: str, words: str
) -> None:
    assert count_of(number, nouns, verb) == words
