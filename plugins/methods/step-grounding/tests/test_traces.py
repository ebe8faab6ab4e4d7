"""What models write, in all forms, good and bad."""

from dataclasses import replace

import pytest

from cuescope_sdk import Sample
from cuescope_step_grounding.traces import choice_meant, is_right, read_trace

TWO = ("A red cup is on the table.", "The man takes it.")
FORMS = {
    "numbered": "1. {0}\n2. {1}\nAnswer: red",
    "numbered, with brackets": "Sure, here it is:\n1) {0}\n2) {1}\n\nFinal answer: red.",
    "numbered steps": "**Step 1:** {0}\n\n**Step 2:** {1}\n\n**Answer:** red",
    "numbered, on one line": "1. {0} 2. {1} Answer: red",
    "bullets": "- {0}\n- {1}\n\nThe answer is red.",
    "json": '["{0}", "{1}"]\nAnswer: red',
    "json, of objects": '```json\n[{{"step": "{0}"}}, {{"belief": "{1}"}}]\n```\nAnswer: red',
    "json, whole": '{{"steps": ["{0}", "{1}"], "answer": "red"}}',
    "prose": "{0} {1} So the answer is red.",
    "prose, thought aloud": "<think>Hm, a dog?</think>{0} {1}\nAnswer: red",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_steps(form: str) -> None:
    trace = read_trace(FORMS[form].format(*TWO), ("red", "blue"))
    assert trace.form == form.partition(",")[0].partition(" ")[0]
    steps = trace.steps[:2] if trace.form == "prose" else trace.steps
    assert steps == TWO
    assert trace.answer == "red"
    assert trace.problems == ()


def test_steps_over_several_lines() -> None:
    assert read_trace("1. A cup\n   falls.\n2. It breaks.\nAnswer: cup").steps == (
        "A cup falls.",
        "It breaks.",
    )


def test_json_says_when() -> None:
    text = '[{"frame": 3, "belief": "a cup"}, {"time": 2.5, "belief": ["a", "b"]}]'
    assert read_trace(text).steps == ("At frame 3, a cup", "At 2.5 seconds, a; b")


def test_an_answer_that_is_no_choice_is_told_as_such() -> None:
    trace = read_trace("1. A cup.\nAnswer: a green dog", ("red cup", "blue cup"))
    assert (trace.answer, trace.problems) == (
        "a green dog",
        ("answer is none of the choices",),
    )
    assert is_right(trace.answer, Sample(key="x", frames=(), label="red cup")) is False


@pytest.mark.parametrize(
    ("text", "steps", "problems"),
    [
        (None, 0, {"empty"}),
        (" \n\t\x00", 0, {"empty"}),
        ("?!...", 0, {"unreadable"}),
        ("1. A cup.\n2. The cup is on the ta", 2, {"no answer", "cut"}),
        ("1. A cup.\n2. A dog.", 2, {"no answer"}),
        (
            '[{"frame": 1, "belief": "a cup"}, {"frame": 2, "bel',
            1,
            {"broken JSON", "no answer", "cut"},
        ),
        (
            '["a cup is here", "a dog is there", "a ca',
            2,
            {"broken JSON", "no answer", "cut"},
        ),
        ("[" * 5000, 0, {"unreadable"}),
    ],
)
def test_what_is_malformed_is_kept_and_named(
    text: str | None, steps: int, problems: set[str]
) -> None:
    trace = read_trace(text, ("red", "blue"))
    assert len(trace.steps) == steps
    assert set(trace.problems) == problems


def test_a_thousand_steps_are_cut_and_said() -> None:
    trace = read_trace(
        "\n".join(f"{n}. A cup." for n in range(1, 1001)) + "\nAnswer: cup", most=64
    )
    assert len(trace.steps) == 64
    assert trace.problems == ("too many steps",)
    assert trace.answer == "cup"


def test_terminal_escapes_and_control_characters_are_dropped() -> None:
    trace = read_trace("\x1b[31m1. A \x07cup.\x1b[0m\r\n2. A\u202edog.\nAnswer: x")
    assert trace.steps == ("A cup.", "Adog.")


def test_html_and_other_languages_are_words() -> None:
    trace = read_trace(
        "1. <script>alert(1)</script>\n2. 红色的杯子在桌子上\u3002\nAnswer: 红"
    )
    assert trace.steps == ("<script>alert(1)</script>", "红色的杯子在桌子上\u3002")
    assert trace.answer == "红"


def test_numbers_inside_a_step_are_no_steps() -> None:
    text = "1. At 0:12 there are 2. Or 3.5 of them.\n2. At 1.5 seconds, 2-3 leave.\nAnswer: 2"
    assert len(read_trace(text).steps) == 2


@pytest.mark.parametrize(
    ("said", "choices", "meant"),
    [
        ("Red.", ("red", "blue"), "red"),
        ("(B) blue", ("red", "blue"), "blue"),
        ("b", ("red cup", "blue cup"), "blue cup"),
        ("B.", ("red cup", "blue cup"), "blue cup"),
        ("It is the blue cup, I think", ("cup", "blue cup", "plate"), "blue cup"),
        ("either the cup or the plate", ("cup", "plate"), None),
        ("a cupboard", ("cup", "plate"), None),
        ("Yes, it is.", ("no", "yes"), "yes"),
        ("I know nothing", ("no", "yes"), None),
        ("A", ("A", "B"), "A"),
        ("something else", ("cup", "plate"), None),
    ],
)
def test_answers_name_one_choice_or_none(
    said: str, choices: tuple[str, ...], meant: str | None
) -> None:
    assert choice_meant(said, choices) == meant


def test_open_answers_compare_as_words() -> None:
    sample = Sample(
        key="a", frames=(), label="a cup", annotations={"answers": ("mug",)}
    )
    assert is_right("The cup.", sample)
    assert is_right("Mug", sample)
    assert is_right("plate", sample) is False
    assert is_right(None, sample) is False
    assert is_right("cup", replace(sample, label=None)) is None


def test_natural_prose_ends_with_its_answer() -> None:
    trace = read_trace("A man sits. He takes the red cup.", ("red cup", "blue cup"))
    assert (trace.answer, trace.problems) == ("red cup", ())
    assert len(trace.steps) == 2


NESTED = {
    "open objects": '{"a":',
    "open lists of objects": '[{"step":',
    "escaped quotes": '\\"',
    "lines of one item": "b\n",
    "half objects": '[{"step": "a',
    "empty objects": '[{"a":{}',
    "item after item": "1. a ",
    "underscores": "_",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", NESTED)
def test_the_time_of_reading_grows_with_the_length(name: str) -> None:
    """A time that grew with the square of the length would be minutes."""
    text = '["1. a' + NESTED[name] * (400_000 // len(NESTED[name]))
    read_trace(text, ("yes", "no"))


@pytest.mark.parametrize("depth", [63, 200, 900, 20_000])
@pytest.mark.parametrize(
    "brackets", [("[", "]"), ('{"steps": [', "]}"), ('[{"step": ', "}]")]
)
def test_nesting_is_no_error(depth: int, brackets: tuple[str, str]) -> None:
    text = brackets[0] * depth + '"a cup"' + brackets[1] * depth
    assert read_trace(text).form in ("json", "prose")
