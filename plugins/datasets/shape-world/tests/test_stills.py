"""Single pictures: what is said of them is what the pixels show."""

import re

import pytest

from cuescope_sdk import Context, Sample, UserError
from cuescope_sdk.grounding import Claim, SceneFrame
from cuescope_shape_world.detector import view
from cuescope_shape_world.questions import PLACES
from cuescope_shape_world.statements import is_true
from cuescope_shape_world.stills import (
    DENIED,
    PLACED,
    STRANGE,
    ShapePictures,
    ShapePicturesOptions,
)
from cuescope_shape_world.tracking import track
from cuescope_shape_world.words import COLOURS, KINDS, PHRASES

_THERE = re.compile(r"There is (?P<no>no|an?) (?P<one>[\w ]+)\.")
_COLOUR = re.compile(r"The (?P<one>\w+) is (?P<no>not )?(?P<colour>\w+)\.")
_PLACE = re.compile(
    rf"The (?P<one>\w+ \w+) is (?P<how>{'|'.join(PLACES)}) the (?P<two>\w+ \w+)\."
)


@pytest.fixture(scope="module")
def pictures() -> list[Sample]:
    data = ShapePictures(ShapePicturesOptions(val=60), Context())
    return [data[index] for index in range(60)]


def claim(said: str) -> Claim:
    if found := _PLACE.fullmatch(said):
        return Claim(
            kind="relation",
            text=said,
            subject=found["one"],
            predicate=found["how"],
            object=found["two"],
        )
    if found := _COLOUR.fullmatch(said):
        return Claim(
            kind="attribute",
            text=said,
            subject=found["one"],
            predicate=found["colour"],
            negated=bool(found["no"]),
        )
    found = _THERE.fullmatch(said)
    assert found, said
    return Claim(
        kind="entity", text=said, subject=found["one"], negated=found["no"] == "no"
    )


def seen(sample: Sample) -> SceneFrame:
    """The scene, from the pixels."""
    (frame,) = track([view(sample.frames[0])])
    return frame


def test_the_pictures_of_a_video_are_a_group(pictures: list[Sample]) -> None:
    assert [sample.group for sample in pictures[:8]] == ["val-video-00000"] * 4 + [
        "val-video-00001"
    ] * 4


def test_captions_are_true_of_the_pixels_and_foils_are_not(
    pictures: list[Sample],
) -> None:
    for sample in pictures:
        frame = seen(sample)
        for said in sample.annotations["captions"]:
            assert is_true(claim(said), frame), (sample.key, said)
        for said in sample.annotations["foils"]:
            assert not is_true(claim(said), frame), (sample.key, said)


def test_presence_and_colour_are_told_whole_the_rest_in_part(
    pictures: list[Sample],
) -> None:
    for sample in pictures:
        sentences = sample.annotations["captions"] + sample.annotations["foils"]
        assert len(set(sentences)) == len(sentences)
        kinds = {t.name for t in seen(sample).things if t.name in KINDS}
        whole = {f"There is a {name}." for name in (*PHRASES, *KINDS)}
        whole |= {f"The {kind} is {colour}." for kind in kinds for colour in COLOURS}
        assert whole <= set(sentences)
        claims = list(map(claim, sentences))
        assert 2 <= sum(one.kind == "relation" for one in claims) <= PLACED
        denied = {
            name
            for name in ("captions", "foils")
            for said in sample.annotations[name]
            if claim(said).negated
        }
        assert denied == {"captions", "foils"}
        assert sum(one.negated for one in claims) <= 4 * DENIED


def test_every_word_occurs(pictures: list[Sample]) -> None:
    true = " ".join(
        said for sample in pictures for said in sample.annotations["captions"]
    )
    false = " ".join(
        said for sample in pictures for said in sample.annotations["foils"]
    )
    for word in (*COLOURS, *KINDS, *PLACES):
        assert word in true
        assert word in false
    assert not [word for word in STRANGE if word in true]
    assert not [word for word in STRANGE if word not in false]


def test_splits_share_no_picture_and_a_typo_is_told() -> None:
    data = ShapePictures(ShapePicturesOptions(train=40, val=40, test=40), Context())
    keys = [
        {data.split(name)[index].frames[0].key for index in range(40)}
        for name in ("train", "val", "test")
    ]
    assert len(set.union(*keys)) == sum(map(len, keys))
    with pytest.raises(UserError, match=r"got 'tran'\. Did you mean 'train'\?"):
        data.split("tran")
