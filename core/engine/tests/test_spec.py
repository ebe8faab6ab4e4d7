"""SPECs, key=value pairs and options: what is read, and what is said about mistakes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest
from pydantic import PositiveInt

from cuescope_core.context import Context
from cuescope_core.errors import UserError, nearest
from cuescope_core.plugin import Plugin
from cuescope_core.registry import Entry
from cuescope_core.request import Request
from cuescope_core.spec import Spec, pairs, validate
from cuescope_core.types import Options


class Choices(Options):
    argument = "weights"
    weights: str
    sizes: tuple[int, ...] = (1,)
    names: list[str] = []
    ratio: float | None = 0.5
    label: str | None = None
    mode: Literal["exact", "fast"] = "exact"
    length: Literal[2, 3, "all"] = 2
    frames: PositiveInt = 8
    table: dict[str, float] = {}
    path: Path | None = None


class Thing(Plugin):
    Options = Choices


def options(spec: str = "thing:w", **given: object) -> Choices:
    entry = Entry("model", "thing", "m:C", "cuescope-thing", "1", "")
    found = validate(entry, SimpleNamespace(Options=Choices), Spec.parse(spec), given)
    assert isinstance(found, Choices)
    return found


def refused(spec: str = "thing:w", **given: object) -> str:
    with pytest.raises(UserError) as caught:
        options(spec, **given)
    line = str(caught.value)
    assert "\n" not in line
    assert "pydantic" not in line
    return line


def test_specs() -> None:
    assert Spec.parse("toy") == Spec("toy")
    assert Spec.parse("open-clip:ViT-B-16/openai") == Spec(
        "open-clip", "ViT-B-16/openai"
    )
    assert Spec.parse("folder:C:/clips") == Spec("folder", "C:/clips")
    for text in ("toy", "a:b:c"):
        assert str(Spec.parse(text)) == text
    for text in ("", ":arg", "toy:"):
        with pytest.raises(UserError, match="expected NAME or NAME:ARG"):
            Spec.parse(text)


def test_pairs() -> None:
    assert pairs("-O", ["a=1", " b =x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    with pytest.raises(UserError, match="-O a: expected key=value, got 'a'"):
        pairs("-O", ["a"])
    with pytest.raises(UserError, match="expected key=value"):
        pairs("-O", ["=1"])
    with pytest.raises(UserError, match=r"-O model\.KEY a is given twice"):
        pairs("-O model.KEY", ["a=1", "a=2"])


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("2,3,5", (2, 3, 5)),
        ("[2, 3]", (2, 3)),
        ("7", (7,)),
        ("2, 3,", (2, 3)),
        ("", ()),
    ],
)
def test_lists_are_written_with_commas_or_as_yaml(
    text: str, sizes: tuple[int, ...]
) -> None:
    assert options(sizes=text).sizes == sizes


def test_text_becomes_what_the_option_takes() -> None:
    assert options().weights == "w"
    assert options("thing", weights="other").weights == "other"
    assert options(names="red,dark blue").names == ["red", "dark blue"]
    assert options(table="{red: 0.5, blue: 2}").table == {"red": 0.5, "blue": 2.0}
    assert options(ratio="none").ratio is None
    assert options(ratio="1e-3").ratio == 0.001
    assert options(label="none").label == "none"
    assert options(path="a/b").path == Path("a/b")
    assert options(frames="16", mode="fast").frames == 16
    assert [options(length=text).length for text in ("3", "all")] == [3, "all"]


def test_each_mistake_is_one_line_with_the_way_out() -> None:
    assert "option 'frames'" in refused(frames="abc")
    assert "valid integer" in refused(frames="abc")
    assert "got 'abc'" in refused(frames="abc")
    assert "greater than 0" in refused(frames="0")
    assert "thing has no option 'frmes'" in refused(frmes="3")
    assert "Did you mean 'frames'?" in refused(frmes="3")
    assert "got 'fsat'. Did you mean 'fast'?" in refused(mode="fsat")
    assert "expected 'exact' or 'fast', got 'quick'" in refused(mode="quick")
    assert "thing needs 'weights': expected thing:ARG" in refused("thing")
    assert "weights is given twice" in refused("thing:w", weights="v")
    assert "option 'sizes'" in refused(sizes="2,x")
    assert "option 'sizes'" in refused(sizes="[2,")
    assert "option 'table'" in refused(table="{a: 1")
    assert "plugins info thing" in refused(frames="abc")
    # `Path("")` is the current folder, which nobody named
    assert "thing: option 'path' is empty: expected a file or folder" in refused(
        path=""
    )


def test_arg_is_refused_where_it_has_no_meaning() -> None:
    entry = Entry("model", "plain", "m:C", "cuescope-plain", "1", "")
    with pytest.raises(UserError, match="plain takes no ARG: got 'plain:x'"):
        validate(entry, SimpleNamespace(Options=Options), Spec.parse("plain:x"), {})


def test_nearest() -> None:
    assert nearest("trov", ["cci", "trove"]) == "Did you mean 'trove'?"
    assert nearest("xyz", ["cci", "trove"]) is None


def test_errors_are_one_sentence_and_a_remedy() -> None:
    whole = UserError("a: b", expected="c", got="d", remedy="Do e")
    assert str(whole) == "a: b: expected c, got d. Do e"
    assert str(UserError("a", got="d")) == "a: got d"
    assert str(UserError("a")) == "a"


# ------------------------------------------------------------------------------------- requests


def test_the_slug_names_the_plugins_and_follows_the_answer() -> None:
    plain = Request(method="red", model="colour:x", data="clips")
    assert plain.slug.startswith("red-colour-clips-")
    same = plain.model_copy(
        update={"batch_size": 1, "executor": "threads", "device": "cuda"}
    )
    other = plain.model_copy(update={"seed": 1})
    assert same.slug == plain.slug != other.slug


def test_the_command_of_a_request_asks_for_the_same() -> None:
    request = Request(
        method="red",
        model="colour:my weights",
        data="clips",
        method_options={
            "top_k": 2,
            "sizes": [2, 3],
            "ratio": None,
            "table": {"a": True},
        },
        data_options={"size": 30},
        tools={"detector": "finder"},
        tool_options={"detector": {"score": 0.5}},
        verify_with=("counting",),
        seed=3,
        limit=5,
        batch_size=8,
    )
    assert request.command == (
        "cuescope audit red --model 'colour:my weights' --data clips --tool detector=finder "
        "-O data.size=30 -O top_k=2 -O 'sizes=[2, 3]' -O ratio=none -O 'table={\"a\": true}' "
        "-O tool.detector.score=0.5 --verify-with counting --seed 3 --limit 5 "
        "--batch-size 8"
    )


def test_a_plugin_with_other_options_is_one_of_the_same_kind() -> None:
    plain = Thing(Choices(weights="w"), Context())
    other = plain.with_options(mode="fast", frames=3)
    assert isinstance(other, Thing)
    assert other.options == Choices(weights="w", mode="fast", frames=3)
    assert other.context.registry is plain.context.registry
    with pytest.raises(
        UserError, match=r"Thing: option 'mode': .*Did you mean 'fast'\?"
    ):
        plain.with_options(mode="fsat")
