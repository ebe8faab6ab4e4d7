"""A number with its noun goes through `count_of`, in every package: nobody reads "1 samples"."""

import re
from pathlib import Path

import pytest

from cuescope.counted import count_of

ROOT = Path(__file__).parents[1]
# what is counted in sentences; a word that is missing here is not looked for
NOUNS = (
    "samples|questions|answers|pictures|findings|cues|calls|images|trials|rows|files|groups|labels|"
    "videos|frames|clips|runs|times|interventions|candidates|options|pairs|words|columns|lines|"
    "steps|parts|seeds|models|methods|cases|inputs"
)
# `{number:,} samples`, perhaps with an adjective. Of a total, a limit or an estimate the plural
# stands whatever the number is.
COUNTED = re.compile(
    r"(?P<before>[a-z]* ?)\{[^{}]+:,\} (?:(?!of |in |and |at )[a-z]+ )?(?:"
    + NOUNS
    + r")\b"
)
PLURAL_ALWAYS = ("of ", "most ", "least ", "about ")


def sources() -> list[Path]:
    roots = [ROOT / "core/src", ROOT / "sdk/src", *ROOT.glob("plugins/*/*/src")]
    return [file for root in roots for file in sorted(root.rglob("*.py"))]


def uncounted(text: str) -> list[str]:
    """The places where a number stands beside a plural that it cannot change."""
    found = COUNTED.finditer(text)
    return [hit[0] for hit in found if hit["before"] not in PLURAL_ALWAYS]


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
