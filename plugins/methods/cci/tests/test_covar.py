"""`cuescope dev bench covar`: what is paired with what, the arithmetic, the models, the paper."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_cci.covar import paper
from cuescope_cci.covar.answers import Answers
from cuescope_cci.covar.bench import CovarBench
from cuescope_cci.covar.contexts import background_pulls
from cuescope_cci.covar.images import SUBSETS, Images, draw_sources, read_images
from cuescope_cci.covar.measures import (
    Figure,
    average,
    class_drops,
    correct_classes,
    subset_drops,
)
from cuescope_cci.covar.models import LISTS, load_models, pairs, parse_models
from cuescope_cci.covar.tables import accuracy_table, images_table, percent, points
from cuescope_sdk import Context, Frame, Sample, Table, UserError

LABELS = ("owl", "toad")
PLACES = ("grass", "sand", "snow")
EACH = {"viewpoint": 2, "scale": 4}
PIXEL = Frame.from_array(np.zeros((2, 2, 3), np.uint8))


def make_samples(sources: int) -> Iterator[Sample]:
    """Photos on grass, and all of their variants before three backgrounds."""
    for number in range(sources):
        wanted = [("grass", "original", 0)]
        wanted += [
            (p, s, i) for p in PLACES for s in SUBSETS for i in range(EACH.get(s, 1))
        ]
        for place, subset, variant in wanted:
            yield Sample(
                key=f"{number}-{place}-{subset}-{variant}",
                frames=(PIXEL,),
                choices=LABELS,
                label=LABELS[number % 2],
                group=f"photo {number}",
                annotations={"factors": {"background": place, "subset": subset}},
            )


def answers_of(images: Images, is_right: Callable[[Sample], bool]) -> Answers:
    """Wrong answers name the other label, and rely on the background."""
    right = np.array([is_right(sample) for sample in images.samples])
    leans = {rule: np.where(right, -1, 1) for rule in ("hidden", "iou")}
    predicted = np.where(right, images.label, 1 - images.label)
    return Answers("m", predicted, right, leans, np.zeros(len(right), bool))


@pytest.fixture(scope="module")
def images() -> Images:
    return read_images(list(make_samples(24)), LABELS)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# ------------------------------------------------------------------------------------ arithmetic


def test_drops_are_paired_by_source_and_background(images: Images) -> None:
    """Snow is hard: its variants are as its plain image is, so nothing but the background costs."""
    own = answers_of(images, lambda s: s.annotations["factors"]["background"] != "snow")
    drops = subset_drops(own.right, images, rng())
    assert drops["background"].value == pytest.approx(1 / 3)
    for name in SUBSETS:
        if name != "background":
            assert (drops[name].value, drops[name].p_value) == (0, 1)
    for index, plain in enumerate(images.plain):
        pair = images.samples[index], images.samples[plain]
        assert pair[0].group == pair[1].group
        assert len({s.annotations["factors"]["background"] for s in pair}) == 1


def test_the_mean_counts_each_subset_once_however_many_images_it_has(
    images: Images,
) -> None:
    own = answers_of(images, lambda s: s.annotations["factors"]["subset"] != "scale")
    figure = average(own.right, images)
    assert figure.value == pytest.approx(7 / 8)  # 8 of 12 variants are right
    [row] = accuracy_table([own], images).rows
    assert str(row["Scale"]).startswith("0 [0, ")
    assert str(row["Avg"]).startswith(("87 [", "88 ["))


def test_a_class_that_one_subset_hurts_is_named_and_the_other_is_not(
    images: Images,
) -> None:
    own = answers_of(
        images,
        lambda s: (s.label, s.annotations["factors"]["subset"]) != ("owl", "viewpoint"),
    )
    classes = correct_classes(
        [class_drops(own.right, images, n, rng()) for n in LABELS]
    )
    owl, toad = classes
    assert owl.drops["viewpoint"].value == 1
    assert owl.mean.value == pytest.approx(1 / 8)
    assert [name for name, drop in owl.drops.items() if drop.star] == ["viewpoint"]
    assert not any(drop.star for drop in toad.drops.values())
    # 12 photos a class: 3 images of each do not make 36 draws of them
    assert owl.drops["viewpoint"].few
    assert str(points(owl.drops["viewpoint"])).endswith(" few *")


def test_one_photo_proves_nothing_however_many_variants_it_has() -> None:
    few = read_images(list(make_samples(2)), LABELS)
    own = answers_of(few, lambda s: s.annotations["factors"]["subset"] == "original")
    drop = subset_drops(own.right, few, rng())["scale"]
    assert drop.value == 0  # as its plain image: both wrong
    loss = subset_drops(own.right, few, rng())["background"]
    assert loss.value == 1
    assert loss.p_value is not None
    assert loss.p_value > 0.05
    assert loss.low is not None
    assert loss.low < 0
    assert str(percent(average(own.right, few))).endswith("few")


def test_null_answers_get_no_star_more_often_than_promised(images: Images) -> None:
    """Photos of their own difficulty, and subsets that do nothing."""
    found = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        hard = draw.random(24)
        right = draw.random(len(images.samples)) < hard[images.source.codes]
        classes = [class_drops(right, images, n, draw) for n in LABELS]
        found += any(d.star for c in correct_classes(classes) for d in c.drops.values())
    assert found <= 3  # of 20, at 5%: 3 or fewer with probability 0.98


def test_what_the_filter_dropped_is_left_out_and_told() -> None:
    samples = list(make_samples(4))
    for index in (5, 6, 7):
        notes = {
            **samples[index].annotations,
            "dropped": "object moved",
            "kept_exactly": False,
        }
        samples[index] = replace(samples[index], annotations=notes)
    images = read_images(samples, LABELS)
    assert len(images.samples) == len(samples) - 3
    table = images_table(images, {"quality": "3 dropped"})
    assert sum(int(str(row["flagged"])) for row in table.rows) == 3
    assert "quality: 3 dropped" in table.notes


def test_the_class_that_a_background_makes_the_answer_is_named(images: Images) -> None:
    """Before snow all is wrong; half of the owls are wrong everywhere, which no snow explains.

    So an owl is answered for half of the photos before snow, and for a quarter elsewhere.
    """
    everywhere = {f"photo {n}" for n in range(0, 24, 4)}
    own = answers_of(
        images,
        lambda s: (
            s.annotations["factors"]["background"] != "snow"
            and s.group not in everywhere
        ),
    )
    pulls = background_pulls(own, images, rng())
    assert {pull.label for pull in pulls["snow"] if (pull.more.value or 0) > 0.05} == {
        "owl"
    }


def test_photos_of_one_place_are_one_draw_and_not_each_others_pair() -> None:
    """Two photos a group: each is paired with its own, and both count once."""
    samples = []
    for sample in make_samples(8):
        photo, notes = sample.group, {**sample.annotations, "source_key": sample.group}
        place = f"place {int(str(photo).split()[1]) // 2}"
        samples.append(replace(sample, group=place, annotations=notes))
    images = read_images(samples, LABELS)
    assert (images.source.count, int(images.photo.max()) + 1) == (4, 8)
    for pairs_of in (images.plain, images.original):
        for index, other in enumerate(pairs_of):
            if other >= 0:
                keys = [samples[i].annotations["source_key"] for i in (index, other)]
                assert keys[0] == keys[1]


def test_so_many_photos_of_all_classes_alike() -> None:
    chosen = draw_sources(list(make_samples(24)), 6, rng())
    assert len({s.group for s in chosen}) == 6
    assert len({s.group for s in chosen if s.label == "owl"}) == 3


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"annotations": {"factors": {"background": "sand"}}},
            "no known subset.*covar build",
        ),
        ({"group": None}, "does not say of which photo"),
        ({"label": None}, "no label of the data set"),
    ],
)
def test_data_that_is_no_such_benchmark_is_refused(
    changed: dict[str, Any], words: str
) -> None:
    samples = list(make_samples(2))
    samples[3] = replace(samples[3], **changed)
    with pytest.raises(UserError, match=words):
        read_images(samples, LABELS)


# ---------------------------------------------------------------------------- models and the paper


def test_every_name_of_the_papers_models_is_one_that_open_clip_has() -> None:
    import open_clip

    known = {f"{name}/{tag}" for name, tag in open_clip.list_pretrained()}
    listed = {name: load_models(name) for name in ("paper", "appendix")}
    assert {name: len(entries) for name, entries in listed.items()} == {
        "paper": 18,
        "appendix": 13,
    }
    for entry in (*listed["paper"], *listed["appendix"]):
        model = entry.model.removeprefix("open-clip:")
        assert model in known
        size = open_clip.get_model_config(model.partition("/")[0])["vision_cfg"][
            "image_size"
        ]
        assert entry.design["resolution"] == size
    names = [entry.name for entry in listed["paper"]]
    assert [row["model"] for row in paper.accuracies(names)] == names
    assert [row["model"] for row in paper.error_sources("BG-Er", names)] == names


def test_the_papers_figures() -> None:
    names = [entry.name for entry in load_models("paper")]
    for row in paper.accuracies(names):
        cells = [row[subset] for subset in SUBSETS.values()]
        assert np.mean(np.array(cells, float)) == pytest.approx(
            float(row["Avg"] or 0), abs=0.06
        )
    [background], [fine] = (
        paper.error_sources(kind, ["ViT-B/32 256 DataComp-1B"])
        for kind in ("BG-Er", "Fine-Er")
    )
    assert (background["Scale"], fine["Scale"]) == (50.7, 16.1)
    [b_16] = paper.drops(["ViT-B/16 224 OpenAI"])
    assert b_16["Scale"] == 27.2
    assert paper.contexts()[-1] == {
        "background": "desert",
        "most predicted": "Arabian camel",
    }


def test_pairs_differ_in_one_thing() -> None:
    entries = load_models("paper")
    found = {
        (what, entries[first].name, entries[second].name)
        for what, first, second in pairs(entries)
    }
    assert ("resolution", "ViT-L/14 224 OpenAI", "ViT-L/14 336 OpenAI") in found
    assert ("patch", "ViT-B/16 224 OpenAI", "ViT-B/32 224 OpenAI") in found
    assert ("size", "ViT-L/14 224 LAION-2B", "ViT-bigG/14 224 LAION-2B") in found
    assert sum(what == "data" for what, *_ in found) == 8
    assert not any({"ViT-B-SigLIP2/32 256 WebLI"} & set(names) for _, *names in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no YAML"),
        ("model: a", "expected a list"),
        ("- {name: a}", "0.model: Field required|model: Field required"),
        ("- {name: a, model: b, sise: c}", "sise"),
        ("- {name: a, model: b}\n- {name: a, model: c}", "two models are called 'a'"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_models(text, "mine.yaml")


def test_a_list_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(
        UserError, match=r"cannot read --models papr.*Did you mean 'paper'"
    ):
        load_models("papr")
    assert set(LISTS) >= {"paper", "toys"}


# ------------------------------------------------------------------------------------- whole runs


@pytest.fixture
def bench(tiny_clip: Path, tmp_path: Path) -> Callable[..., CovarBench]:
    """`bench(folder)`: the tiny model twice, on eight photos; its answers are kept there."""
    file = tmp_path / "models.yaml"
    file.write_text(
        f'- {{name: one, model: "open-clip:{tiny_clip}", design: {{scale: 1}}}}\n'
        f'- {{name: two, model: "open-clip:{tiny_clip}", options: {{logit_scale: 50}}, '
        "design: {scale: 50}}\n"
    )

    def make(folder: Path) -> CovarBench:
        options = CovarBench.Options(
            models=str(file), data_options={"val": 8, "backgrounds": 2}, errors=1
        )
        return CovarBench(options, Context(cache=folder, device="cpu"))

    return make


@pytest.mark.long
def test_killed_between_models_it_goes_on_to_the_same_tables(
    bench: Callable[..., CovarBench], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from cuescope_cci.covar import run

    asked = run.ask
    names: list[str] = []

    def killed(
        audit: Any, options: Any, images: Any, name: str, most: int | None
    ) -> Any:
        names.append(name)
        if len(names) == 2:
            raise KeyboardInterrupt
        return asked(audit, options, images, name, most)

    with monkeypatch.context() as patched:
        patched.setattr(run, "ask", killed)
        with pytest.raises(KeyboardInterrupt):
            list(bench(tmp_path / "a").run())
    resumed, whole = (list(bench(tmp_path / folder).run()) for folder in ("a", "b"))
    assert resumed == whole
    tables = {item.title: item for item in whole if isinstance(item, Table)}
    accuracy = tables["Accuracy on each subset, % (Table 3)"]
    # another scale of the logits changes no answer
    assert (
        len({tuple(row[c] for c in accuracy.columns[1:]) for row in accuracy.rows}) == 1
    )
    [effect] = tables["Models that differ in one thing, points (Figure 14)"].rows
    assert str(effect["Avg"]).startswith("+0 [")


def test_no_star_where_the_interval_holds_zero() -> None:
    beyond = Figure(0.1, 0.02, 0.2, 40, False, 0.001, 0.01)
    assert beyond.star
    assert not replace(beyond, low=-0.02).star
    assert not replace(beyond, q_value=0.2).star
