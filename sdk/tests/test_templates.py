"""The named template sets against their sources, and files of one's own."""

from pathlib import Path

import pytest

from cuescope_sdk import UserError
from cuescope_sdk.models._zero_shot.texts import Templates

# The first seven of TRoVe's appendix C; the other 21 change only the medium.
PAPER_PHOTO = [
    "a photo of {label}.",
    "a photo of a person {label}.",
    "a photo of a person using {label}.",
    "a photo of a person doing {label}.",
    "a photo of a person during {label}.",
    "a photo of a person performing {label}.",
    "a photo of a person practicing {label}.",
]


def test_action28_is_the_papers_list_in_its_order() -> None:
    media = ("a photo", "a video", "a example", "a demonstration")
    expected = [
        line.replace("a photo", medium) for medium in media for line in PAPER_PHOTO
    ]
    assert list(Templates.find("action28", "mine").content) == expected
    assert len(expected) == 28


def test_a_file_gives_one_template_a_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("x-ray of {label}\n\n  a {label} {not} touched \n")
    templates = Templates.find(str(file), "mine")
    assert templates.content == ("x-ray of {label}", "a {label} {not} touched")
    assert templates.prompts("lung")[1] == "a lung {not} touched"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("good {label}\nno slot\n", "line 2 .* has no place"),
        ("\n \n", "holds no template"),
    ],
)
def test_a_file_without_slots_is_refused(
    tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(content)
    with pytest.raises(UserError, match=said):
        Templates.find(str(file), "mine")


def test_a_typo_is_answered_with_the_nearest_set() -> None:
    with pytest.raises(UserError, match="Did you mean 'action28'"):
        Templates.find("actions28", "mine")
