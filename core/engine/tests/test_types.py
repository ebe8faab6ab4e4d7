"""The words: frozen, strict, and what they compute."""

import pickle
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from PIL import Image, ImageOps
from pydantic import TypeAdapter, ValidationError

from cuescope_core import conclusions
from cuescope_core.conclusions import Evidence, Feature, Occurrence, Report, Score
from cuescope_core.errors import PluginError
from cuescope_core.types import (
    Frame,
    HideTokens,
    Outcome,
    Response,
    Sample,
    Trial,
    Value,
)

from .edits import ScaleHeads
from .reports import make_report


def is_word(word: Any) -> bool:
    return isinstance(word, type) and issubclass(word, Value) and word is not Value


def pixels(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (6, 5, 3)).astype(np.uint8)


def sample(**changes: object) -> Sample:
    plain = {
        "key": "s",
        "frames": tuple(Frame.from_array(pixels(i)) for i in range(3)),
        "choices": ("a", "b", "c"),
        "label": "a",
    }
    return Sample(**(plain | changes))


def numbers_of(kind: Any) -> Iterator[Any]:
    """The types of numbers that a type is made of, with what they are bounded by."""
    if get_origin(kind) is Annotated or kind in (int, float):
        inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        if inner in (int, float):
            yield kind
        kind = inner
    if get_origin(kind) is not Literal:
        for part in get_args(kind):
            yield from numbers_of(part)


WORDS = [word for word in vars(conclusions).values() if is_word(word)]
NUMBERS = {
    f"{word.__name__}.{name}": number
    for word in WORDS
    for name, kind in get_type_hints(word, include_extras=True).items()
    for number in numbers_of(kind)
}


def outcome(logits: list[float], label: str | None = "a") -> Outcome:
    return Outcome(Trial(sample=sample(label=label)), Response(logits=np.array(logits)))


# --------------------------------------------------------------------------------------- values


def test_values_are_frozen_and_forbid_unknown_fields() -> None:
    score = Score(feature="f", label=None, metric="m", value=1.0)
    with pytest.raises(ValidationError, match="frozen"):
        score.value = 2.0
    with pytest.raises(ValidationError, match="Extra inputs"):
        Score(feature="f", label=None, metric="m", value=1.0, colour="red")
    with pytest.raises(AttributeError):
        Response(logits=np.zeros(2)).text = "other"


# a person types the seed, and nothing is computed with it
@pytest.mark.parametrize("name", sorted(NUMBERS.keys() - {"Provenance.seed"}))
def test_no_number_of_a_report_is_without_bounds(name: str) -> None:
    """A stranger's report would end in an internal error wherever it is shown."""
    adapter = TypeAdapter(NUMBERS[name])
    for text in ("NaN", "Infinity", "-Infinity", "1" + "0" * 400):
        with pytest.raises(ValidationError):
            adapter.validate_json(text)


def test_no_place_is_before_the_first_frame() -> None:
    """A clip would be read from its end, or none of its frames be found."""
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Occurrence(sample="s", frame=-7)


def test_the_numbers_of_a_report_are_found() -> None:
    assert {"Cost.seconds", "Cost.tool_calls", "Occurrence.region"} < NUMBERS.keys()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_no_figure_is_nan_or_infinite(number: float) -> None:
    for field in ("value", "low", "high", "p_value", "q_value"):
        given = {
            "feature": "f",
            "label": None,
            "metric": "m",
            "value": 1.0,
            field: number,
        }
        with pytest.raises(ValidationError, match="finite"):
            Score(**given)
    with pytest.raises(ValidationError, match="finite"):
        Evidence(check="c", verdict="refuted", detail="d", value=number)
    with pytest.raises(ValidationError, match="finite"):
        Occurrence(sample="s", strength=number)


# --------------------------------------------------------------------------------------- frames


def test_an_interval_begins_before_it_ends() -> None:
    score = Score(feature="f", label=None, metric="m", value=0.2, low=0.1, high=0.3)
    with pytest.raises(ValidationError, match="expected low <= high, got low="):
        score.model_copy(update={"high": -3.0})


def test_frame_keys_follow_the_pixels() -> None:
    one, changed = pixels(), pixels()
    changed[3, 2, 1] ^= 1
    assert Frame.from_array(one).key == Frame.from_array(one.copy()).key
    assert Frame.from_array(one).key != Frame.from_array(changed).key
    assert Frame.from_array(one).key != Frame.from_array(one.reshape(5, 6, 3)).key
    np.testing.assert_array_equal(np.asarray(Frame.from_array(one).load()), one)


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((4, 4, 3)), np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8)],
)
def test_frame_refuses_other_arrays(wrong: np.ndarray) -> None:
    with pytest.raises(
        ValueError, match=r"expected uint8 pixels of shape \(row, col, 3\)"
    ):
        Frame.from_array(wrong)


def test_frame_from_file_is_rgb_and_keyed_by_content(tmp_path: Path) -> None:
    Image.fromarray(pixels()).convert("L").save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes())
    first, second = (
        Frame.from_file(tmp_path / "a.png"),
        Frame.from_file(tmp_path / "b.png"),
    )
    assert first.key == second.key
    assert first.load().mode == "RGB"
    assert first.load().size == (5, 6)


def test_frame_from_file_shows_what_a_person_sees(tmp_path: Path) -> None:
    deep = np.array([[0, 255, 256], [32768, 65280, 65535]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    seen = np.asarray(Frame.from_file(tmp_path / "deep.png").load())
    np.testing.assert_array_equal(seen[..., 1], deep >> 8)
    clear = Image.new("RGBA", (2, 1), (0, 0, 0, 0))
    clear.putpixel((1, 0), (10, 20, 30, 255))
    clear.save(tmp_path / "clear.png")
    seen = np.asarray(Frame.from_file(tmp_path / "clear.png").load())
    assert seen.tolist() == [[[255, 255, 255], [10, 20, 30]]]


def test_derived_frames_have_keys_of_parent_and_operation() -> None:
    frame = Frame.from_array(pixels())
    mirrored = frame.derive("mirror", ImageOps.mirror)
    assert mirrored.key == frame.derive("mirror", ImageOps.mirror).key
    others = {
        frame.key,
        frame.derive("flip", ImageOps.flip).key,
        Frame.from_array(pixels(1)).derive("mirror", ImageOps.mirror).key,
        mirrored.derive("mirror", ImageOps.mirror).key,
    }
    assert len(others | {mirrored.key}) == 5
    np.testing.assert_array_equal(np.asarray(mirrored.load()), pixels()[:, ::-1])


def test_frames_and_trials_travel_to_other_processes() -> None:
    frame = Frame.from_array(pixels()).derive("mirror", ImageOps.mirror)
    trial = Trial(
        sample=sample(frames=(frame,)),
        edit=HideTokens.from_mask(np.ones((1, 2, 2), bool)),
    )
    again = pickle.loads(pickle.dumps(trial))
    assert again.sample.frames[0].key == frame.key
    np.testing.assert_array_equal(
        np.asarray(again.sample.frames[0].load()), np.asarray(frame.load())
    )
    assert again.edit == trial.edit


# -------------------------------------------------------------------------------------- samples


def test_static_repeats_one_frame_to_the_same_length() -> None:
    clip = sample()
    still = clip.static(1)
    assert [frame.key for frame in still.frames] == [clip.frames[1].key] * 3
    assert still.key != clip.key
    assert still.key != clip.static(2).key
    assert (still.label, still.choices) == (clip.label, clip.choices)


def test_a_question_may_come_without_frames() -> None:
    assert sample(frames=(), question="Which way?").frames == ()


def test_sample_refuses_a_strange_label() -> None:
    with pytest.raises(ValidationError, match="label 'd' is none of the choices"):
        sample(label="d")
    assert sample(label="d", choices=()).label == "d"


# ---------------------------------------------------------------------------------------- edits


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 5), (4, 14, 14)])
def test_hidden_tokens_keep_their_mask(shape: tuple[int, int, int]) -> None:
    mask = np.random.default_rng(0).random(shape) < 0.4
    edit = HideTokens.from_mask(mask)
    np.testing.assert_array_equal(edit.mask, mask)
    assert edit == HideTokens.from_mask(mask.copy())
    assert edit != HideTokens.from_mask(~mask)


def test_hidden_tokens_refuse_other_masks() -> None:
    with pytest.raises(ValueError, match=r"expected a bool mask \(frame, row, col\)"):
        HideTokens.from_mask(np.ones((2, 2), bool))
    with pytest.raises(ValueError, match="got int64"):
        HideTokens.from_mask(np.ones((1, 2, 2), np.int64))


def test_an_edit_of_any_package_keeps_its_fields() -> None:
    edit = ScaleHeads(heads=frozenset({"VV", "VT"}), layers=(1,))
    trial = Trial(sample=sample(), edit=edit)
    assert trial.edit is edit
    with pytest.raises(ValidationError, match="edit"):
        Trial(sample=sample(), edit="scale-heads")  # type: ignore[arg-type]


# ------------------------------------------------------------------------ responses and outcomes


def test_responses_are_float32_vectors() -> None:
    response = Response(logits=[1, 3, 2], embedding=np.ones(4, np.float64))
    assert response.logits is not None
    assert response.embedding is not None
    assert response.logits.dtype == response.embedding.dtype == np.float32
    assert response.prediction == 1
    assert Response(text="yes").prediction is None
    assert Response(text="yes").missing(frozenset({"text", "logits"})) == ["logits"]


@pytest.mark.parametrize("wrong", [[[1.0, 2.0]], 3.0])
def test_responses_refuse_what_is_no_vector(wrong: object) -> None:
    for name in ("logits", "embedding"):
        with pytest.raises(ValueError, match=f"{name}: expected one vector"):
            Response(**{name: np.array(wrong)})


def test_correct_counts_the_first_of_equals() -> None:
    assert outcome([2, 1, 0]).correct()
    assert not outcome([0, 1, 2]).correct(top_k=2)
    assert outcome([0, 1, 2]).correct(top_k=3)
    tied = [1.0, 1.0, 1.0]
    assert outcome(tied, "a").correct()
    assert not outcome(tied, "b").correct()
    assert outcome(tied, "b").correct(top_k=2)
    assert not outcome(tied, "c").correct(top_k=2)
    assert outcome(tied).prediction == "a"


def test_text_is_correct_when_it_is_the_label_and_nothing_is_without_one() -> None:
    said = Outcome(Trial(sample=sample()), Response(text="a"))
    assert said.correct()
    assert said.prediction == "a"
    assert not Outcome(Trial(sample=sample()), Response(text="b")).correct()
    unlabelled = Trial(sample=sample(label=None))
    assert not Outcome(unlabelled, Response(embedding=np.ones(2))).correct()
    assert not outcome([1, 0, 0], label=None).correct(top_k=3)


# --------------------------------------------------------------------------------------- reports


def test_the_hash_ignores_cost_time_and_machine() -> None:
    report = make_report()
    elsewhere = report.provenance.model_copy(
        update={
            "started": "later",
            "device": "cuda",
            "versions": {},
            "command": "other",
        }
    )
    dearer = report.cost.model_copy(
        update={"model_calls": 0, "cache_hits": 9, "seconds": 0.1}
    )
    assert make_report(provenance=elsewhere, cost=dearer).hash == report.hash


def test_the_hash_sees_what_was_asked_and_found() -> None:
    report = make_report()
    asked = report.provenance
    moved = report.scores[0].model_copy(update={"value": 0.123})
    other_weights = asked.model.model_copy(update={"fingerprint": "other"})
    other_options = asked.method.model_copy(update={"options": {"top_k": 5}})
    changed = [
        make_report(scores=(moved, *report.scores[1:])),
        make_report(scores=report.scores[::-1]),
        make_report(evidence=()),
        report.model_copy(update={"features": report.features[::-1]}),
        make_report(notes={}),
        make_report(provenance=asked.model_copy(update={"seed": 1})),
        make_report(provenance=asked.model_copy(update={"limit": 10})),
        make_report(provenance=asked.model_copy(update={"model": other_weights})),
        make_report(provenance=asked.model_copy(update={"method": other_options})),
    ]
    assert len({report.hash, *[other.hash for other in changed]}) == 1 + len(changed)


def test_the_hash_survives_json_and_numpy_figures() -> None:
    report = make_report()
    assert Report.model_validate_json(report.model_dump_json()).hash == report.hash
    rough = np.float64(0.1) + np.float64(0.2)
    score = Score(feature="cluster-00", label=None, metric="trove", value=rough)
    numpy_report = make_report(scores=(score,))
    assert (
        Report.model_validate_json(numpy_report.model_dump_json()).hash
        == numpy_report.hash
    )


def test_names_that_a_check_found_stand_before_the_features_own() -> None:
    features = (
        Feature(key="0", kind="cluster"),
        Feature(key="1", kind="cluster", name="own"),
        Feature(key="2", kind="cluster", name="own"),
    )
    found = Evidence(
        check="c", verdict="supported", detail="d", feature="2", name="found"
    )
    nameless = Evidence(check="c", verdict="supported", detail="d", feature="1")
    score = Score(
        feature="2",
        label="a",
        metric="trove",
        value=1.0,
        finding=True,
        statement="{feature} costs",
    )
    plain = Score(feature="1", label="a", metric="trove", value=0.0)
    said = {"features": features, "scores": (plain, score), "contrasts": ()}
    report = make_report().model_copy(update={**said, "evidence": (found, nameless)})
    assert report.names == {"0": "0", "1": "own", "2": "found"}
    assert report.findings == (score,)
    assert report.sentence(score) == "found costs"
    assert report.sentence(plain) is None


def test_a_copy_is_checked_as_a_new_one_is() -> None:
    [score, *_] = make_report().scores
    assert score.model_copy(update={"value": 0.25}).value == 0.25
    assert score.model_copy() == score
    for update in ({"value": float("nan")}, {"valu": 0.25}, {"n": "many"}):
        with pytest.raises(ValidationError):
            score.model_copy(update=update)


def test_a_sample_with_another_question_or_other_choices() -> None:
    sample = Sample(key="a", frames=(), choices=("cat", "dog"), label="dog")
    asked = sample.with_question("Which?", "which")
    assert (asked.key, asked.question, asked.label) == ("a/which", "Which?", "dog")
    turned = sample.with_choices(["dog", "cat"], "turned")
    assert (turned.key, turned.choices, turned.label) == (
        "a/turned",
        ("dog", "cat"),
        "dog",
    )
    assert sample.with_choices(["cow", "cat"], "others").label is None


def test_an_outcome_has_what_was_asked_for_or_says_so() -> None:
    trial = Trial(sample=Sample(key="a", frames=()))
    outcome = Outcome(trial, Response(logits=np.array([1.0]), text=""))
    assert outcome.logits.tolist() == [1.0]
    assert outcome.text == ""
    with pytest.raises(PluginError, match="the answer to a: expected embedding"):
        _ = outcome.embedding


def test_a_derived_frame_leaves_its_parent_as_it_was() -> None:
    kept = Image.new("RGB", (4, 4), "red")
    parent = Frame("parent", partial(_same, kept))
    grey = parent.derive("grey", _painted_grey)
    assert grey.load().getpixel((0, 0)) == (128, 128, 128)
    assert parent.load().getpixel((0, 0)) == (255, 0, 0)


def _same(image: Image.Image) -> Image.Image:
    return image


def _painted_grey(image: Image.Image) -> Image.Image:
    image.paste((128, 128, 128), (0, 0, 4, 4))
    return image
