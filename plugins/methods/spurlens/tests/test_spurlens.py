"""The planted cue is found in both tasks; nothing else is, and nothing where nothing is planted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_sdk import (
    Capabilities,
    Context,
    Detection,
    Frame,
    Report,
    Response,
    Sample,
    Trial,
    UserError,
    generator,
)
from cuescope_testing import Setup

Audited = Callable[..., Report]
Making = Callable[..., Setup]


def table(report: Report, title: str) -> dict[str, Mapping[str, Any]]:
    """The rows of the table whose title begins so, by their first column."""
    found = next(table for table in report.tables if table.title.startswith(title))
    return {str(row[found.columns[0]]): row for row in found.rows}


def detector_of(setup: Setup) -> Any:
    """The detector that an audit uses."""
    return setup.tools["detector"]


def test_finds_the_planted_cue_first_in_both_tasks(audited: Audited) -> None:
    report = audited()
    assert [score.feature for score in report.findings] == [
        "hallucination/cup/table",
        "recognition/cup/table",
    ]
    assert all(
        score.q_value is not None and score.q_value < 0.01 for score in report.findings
    )
    statements = "\n".join(report.statements)
    rates = "a cup in 100% of the 50 that show a table most, and in"
    assert f"in images with a cup, the model sees {rates}" in statements
    assert f"in images without a cup, the model imagines {rates}" in statements


def test_says_that_answers_cannot_be_read(setup: Making) -> None:
    report = setup(k=10, model_options={"speaks": "hm, {}"}).report()
    assert not report.findings
    assert (
        "answered neither yes nor no: nothing could be measured" in report.statements[0]
    )
    assert {score.value for score in report.scores} == {None}


def test_refuses_supercategories_where_there_are_none(setup: Making) -> None:
    with pytest.raises(UserError, match="expected a data set with supercategories"):
        setup(negatives="supercategory").report()


def test_refuses_a_model_that_only_recorded_answers(setup: Making) -> None:
    made = setup()
    capabilities = made.model.capabilities.model_copy(
        update={"exposes": frozenset({"recorded"})}
    )
    recorded = type("Recorded", (made.model,), {"capabilities": capabilities})
    with pytest.raises(UserError, match=r"questions of its own: .* recorded"):
        setup(model=recorded).report()


@pytest.mark.parametrize(
    ("audits", "most"), [(5, 2), pytest.param(30, 5, marks=pytest.mark.long)]
)
def test_finds_nothing_where_nothing_is_planted(
    setup: Making, audits: int, most: int
) -> None:
    """Six cases of six cues in each audit: at 5 % more with a finding are 1 in 300."""
    found = 0
    for seed in range(audits):
        made = setup(
            data_options={"seed": seed, "samples": 80},
            model_options={"cue": ""},
            k=10,
            draws=500,
        )
        found += bool(made.report(seed=seed).findings)
    assert found <= most


def test_rates_are_those_of_the_images(setup: Making) -> None:
    """PA with the cue, asked of the model itself about the feature's images."""
    made = setup(k=15)
    report = made.report()
    data = made.data(made.data.Options(), Context())
    by_key = {sample.key: sample for sample in (data[i] for i in range(len(data)))}
    model = made.model(made.model.Options(), Context())
    feature = next(f for f in report.features if f.key == "recognition/clock/table")
    assert len(feature.occurrences) == 15
    yes = []
    for occurrence in feature.occurrences:
        sample = by_key[occurrence.sample]
        assert "clock" in sample.annotations["objects"]
        assert occurrence.region == (0, 3, 8, 4)
        asked = replace(sample, question="Do you see a clock in the image?")
        yes.append(
            model.answer(Trial(sample=asked, outputs=frozenset({"text"}))).text == "yes"
        )
    (score,) = (
        s
        for s in report.scores
        if (s.feature, s.metric) == (feature.key, "perception_with")
    )
    assert score.value == pytest.approx(np.mean(yes))


def test_each_question_is_asked_once_and_each_image_looked_at_once(
    setup: Making,
) -> None:
    made, asked = setup(), []

    class Watched(made.model):  # type: ignore[misc, name-defined]
        def answer(self, trial: Trial) -> Response:
            asked.append((trial.sample.frames[0].key, trial.sample.question))
            return super().answer(trial)  # type: ignore[no-any-return]

    detector_of(made).shown.clear()
    report = setup(model=Watched).report()
    assert len(asked) == len(set(asked)) == report.cost.model_calls == 240 * 3 * 3
    assert sum(frames for frames, _ in detector_of(made).shown) == 240
    assert report.notes["detector passes"].startswith("240 at most")


def test_plan_is_what_is_asked(setup: Making) -> None:
    plan, report = setup(k=10).plan(), setup(k=10).report()
    assert plan.model_calls == report.cost.model_calls < 240 * 3 * 3
    assert report.notes["answers"].startswith(f"{plan.trials:,} distinct questions")
    most = int(report.notes["questions"].partition(" ")[0].replace(",", ""))
    assert plan.trials <= most <= 240 * 3 * 3


def test_what_is_seen_is_remembered(setup: Making) -> None:
    made = setup()
    cold = made.report()
    detector_of(made).shown.clear()
    assert made.report().hash == cold.hash
    assert detector_of(made).shown == []


def test_cues_that_cannot_be_ranked_are_said(setup: Making) -> None:
    made = setup()
    namer = type(
        "Names", (made.tools["proposer"],), {"names": ("table", "wall", "dragon")}
    )
    finder = made.tools["detector"]

    class Both(finder):  # type: ignore[misc, valid-type]
        fingerprint = "both"

        def find(self, frame: Frame, names: Sequence[str]) -> Iterator[Detection]:
            yield from super().find(frame, names)
            if "wall" in names:
                yield Detection(name="wall", score=0.7, box=(0, 0, 8, 8))

    report = setup(tools={"proposer": namer, "detector": Both}).report()
    words = table(report, "Cues that were left out")["cup"]["cues"]
    assert "wall: in every image alike (recognition)" in words
    assert "dragon: never detected (hallucination)" in words
    assert {feature.name for feature in report.features if "/cup/" in feature.key} == {
        "table beside a cup",
        "table without a cup",
    }


def test_a_class_with_few_images_has_a_smaller_k(audited: Audited) -> None:
    report = audited(data_options={"samples": 40}, k=12)
    assert "fewer for" in report.notes["K"]
    rows = table(report, "Recognition")
    assert any(int(row["K"]) < 12 for row in rows.values())
    assert all(int(row["K"]) >= 5 for row in rows.values())


def test_images_too_few_for_the_papers_k_are_said(audited: Audited) -> None:
    few = audited(data_options={"samples": 80})
    assert "; there are too few images for K = 50" in few.notes["K"]
    assert "too few" not in audited(k=5).notes["K"]


@pytest.mark.long
def test_what_a_data_set_says_it_is_sets_k_and_the_papers_figures(
    setup: Making,
) -> None:
    class Coco(setup().data):  # type: ignore[misc, name-defined]
        benchmark = "COCO"

    plain, coco = setup().report(), setup(data=Coco).report()
    assert "; there are too few images for K = 100" in coco.notes["K"]
    means = [
        next(t for t in report.tables if t.title == "Mean over the classes")
        for report in (plain, coco)
    ]
    assert [bool(table.paper) for table in means] == [False, True]
    assert {row["task"]: row["with the cue"] for row in means[1].paper} == {
        "recognition": 95.3,
        "hallucination": 13.5,
    }


@pytest.mark.parametrize(
    "names", [(), ("I am sorry, but I cannot help you with any of that today.",)]
)
def test_a_proposer_that_names_nothing_is_said(
    setup: Making, names: tuple[str, ...]
) -> None:
    namer = type("Names", (setup().tools["proposer"],), {"names": names})
    report = setup(tools={"proposer": namer}).report()
    assert not report.features
    assert not report.scores
    assert (
        report.notes["left out: cup"]
        == "the proposer names nothing that could be a cue"
    )


def test_more_cues_than_wanted_are_kept_with_the_reason(audited: Audited) -> None:
    report = audited(max_cues=2)
    assert (
        "beyond the first 2" in table(report, "Cues that were left out")["cup"]["cues"]
    )
    assert {f.key.split("/")[2] for f in report.features if "/cup/" in f.key} == {
        "table",
        "tree",
    }


@pytest.mark.parametrize(
    "speaks",
    [
        "**{}**, there is.",
        pytest.param("Let me look.\nAnswer: {}", marks=pytest.mark.long),
    ],
)
def test_answers_are_read_in_a_models_own_manner(audited: Audited, speaks: str) -> None:
    report = audited(model_options={"speaks": speaks}, classes=("cup",))
    assert len(report.findings) == 2
    assert "0 answered neither" in report.notes["answers"]


def test_words_that_are_no_answer_are_counted_and_not_guessed(audited: Audited) -> None:
    report = audited(
        model_options={"speaks": "I know that I cannot be sure, eyes or not."}
    )
    assert not report.findings
    assert "2,160 (100.0%) answered neither yes nor no" in report.notes["answers"]


def test_a_model_of_logits_alone_is_asked_for_these(setup: Making) -> None:
    class Silent(setup().model):  # type: ignore[misc, name-defined]
        capabilities = Capabilities(outputs=frozenset({"logits"}))

    assert len(setup(model=Silent).report().findings) == 2


def test_a_question_names_the_object(audited: Audited) -> None:
    with pytest.raises(UserError, match="object"):
        audited(questions=("Is it there?",))


def test_unknown_class_is_told_with_the_nearest(audited: Audited) -> None:
    with pytest.raises(UserError, match="Did you mean 'clock'"):
        audited(classes=("clok",))


def test_unknown_strategy_is_told(audited: Audited) -> None:
    with pytest.raises(UserError, match="ensemble"):
        audited(mitigation=("ensembel",))


def test_samples_without_objects_are_left_out(setup: Making) -> None:
    """A class that no image shows cannot be recognised, but it can be imagined."""

    class NoCups(setup().data):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: int) -> Sample:
            sample = super().__getitem__(index)
            objects = tuple(n for n in sample.annotations["objects"] if n != "cup")
            known = {**sample.annotations, "objects": objects}
            return replace(sample, annotations=known)  # type: ignore[no-any-return]

    report = setup(data=NoCups).report()
    assert report.notes["left out: cup"] == "0 images to compare (recognition)"
    assert [score.feature for score in report.findings] == ["hallucination/cup/table"]


# ----------------------------------------------------------------------------- what was drawn


def with_groups(
    setup: Making, group: Callable[[int], str | None], **options: Any
) -> Setup:
    """An audit whose images name a group by their number."""

    class Grouped(setup().data):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: int) -> Sample:
            sample = super().__getitem__(index)
            return replace(sample, group=group(index))  # type: ignore[no-any-return]

    return setup(data=Grouped, **options)


def test_a_group_counts_once(setup: Making) -> None:
    report = with_groups(setup, lambda i: f"video {i // 4}", classes=("cup",)).report()
    assert all(int(score.n or 0) <= 30 for score in report.scores)


def test_images_of_one_group_are_no_comparison(setup: Making) -> None:
    """Everything from one video, of which the classes and their absence are all seen."""
    with pytest.raises(
        UserError, match=r"too few samples for any finding.* got 1 of '"
    ):
        with_groups(setup, lambda index: "video").report()


def test_groups_may_miss_and_may_be_in_several_classes(setup: Making) -> None:
    made = with_groups(
        setup, lambda index: f"video {index // 3}" if index % 2 else None
    )
    report = made.report()
    assert {score.feature for score in report.findings} <= {
        "hallucination/cup/table",
        "recognition/cup/table",
    }
    assert report.findings


@pytest.mark.parametrize("speaks", ["yes", pytest.param("no", marks=pytest.mark.long)])
def test_answers_that_are_all_alike_find_nothing_and_say_so(
    setup: Making, speaks: str
) -> None:
    report = setup(model_options={"speaks": speaks}).report()
    assert not report.findings
    assert {score.value for score in report.headlines} == {0.0}
    assert all(score.low is not None and score.low < 0 for score in report.headlines)
    assert "power" in report.notes


def test_what_could_be_found_stands_in_plan_and_report(setup: Making) -> None:
    assert setup(k=10).plan().notes["power"].startswith("80% for ")
    assert setup(k=20).report().notes["power"].startswith("80% for a gap of ")


def test_a_finding_is_measured_where_no_cue_was_looked_for(setup: Making) -> None:
    """Cues are looked for in half of the images; the plan's bound holds."""
    report = setup(
        k=30, data_options={"samples": 600}, classes=("cup", "lamp"), discover=0.5
    ).report()
    rows = table(report, "Recognition")
    assert rows["cup"]["apart"]
    assert rows["lamp"]["apart"] is None
    most = int(report.notes["questions"].partition(" ")[0].replace(",", ""))
    assert int(report.notes["answers"].partition(" ")[0].replace(",", "")) <= most


def test_a_gap_that_goes_with_the_objects_size_is_no_cue(setup: Making) -> None:
    """Cups are small where no tree is, and the model misses small ones; trees do nothing."""

    class Sized(setup().data):  # type: ignore[misc, name-defined]
        def __getitem__(self, index: int) -> Sample:
            sample = super().__getitem__(index)
            rng = generator(0, "size", str(index))
            small = rng.random() < (0.15 if "tree" in names_of(sample) else 0.85)
            side = float(rng.uniform(1, 2) if small else rng.uniform(6, 8))
            boxes = tuple(
                Detection(name=name, score=1.0, box=(0, 0, side, side))
                for name in sample.annotations["objects"]
            )
            known = {**sample.annotations, "boxes": boxes}
            return replace(sample, annotations=known)  # type: ignore[no-any-return]

    data = Sized(Sized.Options(samples=600), Context())
    small = {
        sample.frames[0].key
        for sample in (data[index] for index in range(len(data)))
        if any(box.box[2] < 4 for box in sample.annotations["boxes"])
    }

    class ShortSighted(setup().model):  # type: ignore[misc, name-defined]
        def answer(self, trial: Trial) -> Response:
            seen = super().answer(trial)
            missed = trial.sample.frames[0].key in small
            luck = generator(0, "sight", trial.sample.frames[0].key).random()
            return Response(text="no") if missed and luck < 0.7 else seen  # type: ignore[no-any-return]

    report = setup(
        data=Sized,
        model=ShortSighted,
        data_options={"samples": 600},
        model_options={"cue": "", "errs": 0.1},
        task="recognition",
    ).report()
    assert not report.findings


CLASSES = ("cup", "lamp", "clock")


def names_of(sample: Sample) -> list[str]:
    """What the rows of a kitchen say is there."""
    pixels = np.asarray(sample.frames[0].load())
    names = (*CLASSES, "table", "tree", "rug", "window")
    return [name for name, row in zip(names, pixels, strict=False) if row.mean() > 120]


def test_a_plan_is_bounded_and_not_by_much(setup: Making) -> None:
    """Findings are asked about apart, as no plan can know; before the detector all is a bound."""
    plan, asked = setup(k=10).plan(), setup(k=10).report().cost.trials
    assert plan.more is not None
    assert asked <= plan.trials + plan.more < 2 * asked
