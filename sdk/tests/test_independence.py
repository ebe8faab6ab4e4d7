"""How many groups an audit has; where none are known, whether samples look nearly alike."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image

from cuescope_core.types import FrameSource
from cuescope_sdk import (
    Audit,
    BadDataError,
    Context,
    Evidence,
    Frame,
    Outcome,
    Response,
    Sample,
    Trial,
)
from cuescope_sdk.data import independent_samples
from cuescope_sdk.data._look_alikes import (
    _quick_look,
    alike_pairs,
    difference_hash,
    distances,
    draw_runs,
)
from cuescope_sdk.data._media.video import key_picture
from cuescope_testing import FakeDataset

ASSETS = Path(
    os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
).expanduser()
SIDE = 48


def check(
    samples: Sequence[Sample], labels: tuple[str, ...] = (), **context: object
) -> Evidence:
    """What is said of these samples; no model is asked."""

    def respond(trials: object) -> list[object]:
        raise AssertionError("a model call")

    audit = Audit(
        labels=labels,
        options=None,
        respond=respond,  # type: ignore[arg-type]
        context=Context(**context),  # type: ignore[arg-type]
        samples=tuple(samples),
    )
    (evidence,) = independent_samples(audit)
    return evidence


def judged(
    right: Sequence[bool],
    labels: Sequence[str],
    *,
    place_is_held: bool = False,
    names: Sequence[str] = (),
    questions: Sequence[str] = (),
) -> Evidence:
    """What is said of answers that are right or wrong in this order."""
    samples = tuple(
        Sample(
            key=names[number] if names else f"{number:04d}",
            frames=(),
            choices=("cat", "dog"),
            label=label,
            question=question,
        )
        for number, (label, question) in enumerate(
            zip(labels, questions or [None] * len(labels), strict=True)
        )
    )
    outcomes = []
    for sample, is_right in zip(samples, right, strict=True):
        answer = sample.label if is_right else "neither"
        outcomes.append(Outcome(Trial(sample=sample), Response(text=answer)))
    audit = Audit(
        labels=("cat", "dog"),
        options=None,
        respond=lambda trials: [],
        context=Context(),
        samples=samples,
        outcomes=outcomes,
    )
    (evidence,) = independent_samples(audit, place_is_held=place_is_held)
    return evidence


def samples_of(
    images: Sequence[Image.Image], labels: Sequence[str] = ()
) -> list[Sample]:
    return [
        Sample(
            key=f"{number:04d}.jpg",
            frames=(Frame.from_array(np.asarray(image.convert("RGB"))),),
            label=labels[number] if labels else None,
        )
        for number, image in enumerate(images)
    ]


def texture(rng: np.random.Generator, cells: int = 7, side: int = SIDE) -> Image.Image:
    """Soft blots of colour, as different from each other as photos are."""
    blots = rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
    return Image.fromarray(blots).resize((side, side), Image.Resampling.BICUBIC)


def disc(row: int, col: int) -> Image.Image:
    """A white disc on black: two that are drawn at random are often alike."""
    rows, cols = np.mgrid[:SIDE, :SIDE]
    inside = (rows - row) ** 2 + (cols - col) ** 2 < 36
    return Image.fromarray((255 * inside).astype(np.uint8))


def saved_again(image: Image.Image, quality: int = 40) -> Image.Image:
    file = BytesIO()
    image.convert("RGB").save(file, "JPEG", quality=quality)
    return Image.open(BytesIO(file.getvalue()))


def cropped(image: Image.Image, share: float = 0.04) -> Image.Image:
    left, top = (round(share / 2 * side) for side in image.size)
    return image.crop((left, top, image.width - left, image.height - top))


def frames_of_films(films: int, length: int, seed: int = 0) -> list[Image.Image]:
    """A camera that pans over `films` walls, `length` frames each."""
    rng = np.random.default_rng(seed)
    walls = [texture(rng, cells=16, side=3 * SIDE) for _ in range(films)]
    return [
        wall.crop((x, x, x + SIDE, x + SIDE))
        for wall in walls
        for x in range(0, length)
    ]


# ------------------------------------------------------------------------------------- declared


@pytest.mark.parametrize(
    ("groups", "verdict", "detail"),
    [
        (
            [f"v{n // 5}" for n in range(400)],
            "supported",
            "400 samples of 80 groups, the largest of 5: tests and intervals draw whole groups.",
        ),
        (
            [f"v{n // 5}" for n in range(40)],
            "inconclusive",
            "40 samples of 8 groups, the largest of 5: tests and intervals draw whole groups. "
            "That is few (below 20): intervals hold only roughly.",
        ),
        (
            ["a"] * 30 + [None] * 30,
            "supported",
            "60 samples of 31 groups, the largest of 30: tests and intervals draw whole groups. "
            "30 without a group count by themselves.",
        ),
        (
            ["ward 3"] * 30,
            "refuted",
            "All 30 samples are of one group, 'ward 3': no test can go beyond it.",
        ),
        (
            [f"v{n}" for n in range(30)],
            "supported",
            "30 samples, each drawn by itself, as declared.",
        ),
    ],
)
def test_groups_are_counted(
    groups: list[str | None], verdict: str, detail: str
) -> None:
    samples = [
        Sample(key=str(n), frames=(), group=group) for n, group in enumerate(groups)
    ]
    evidence = check(samples)
    assert (evidence.verdict, evidence.detail) == (verdict, detail)
    assert (evidence.check, evidence.n) == ("independent samples", len(groups))


def test_where_groups_are_declared_no_frame_is_loaded() -> None:
    def refuse() -> Image.Image:
        raise AssertionError("a frame is loaded")

    frame = Frame("key", refuse)
    samples = [Sample(key=str(n), frames=(frame,), group=str(n)) for n in range(30)]
    assert check(samples).verdict == "supported"


# ----------------------------------------------------------------------------------- look-alikes


def test_independent_images_are_taken_as_such_which_proves_nothing() -> None:
    rng = np.random.default_rng(0)
    evidence = check(samples_of([texture(rng) for _ in range(100)]))
    assert evidence.verdict == "inconclusive"
    assert evidence.detail == (
        "Not known: nothing says or shows what of the 100 samples was drawn together; 0 of 100 "
        "samples look nearly alike."
    )


@pytest.mark.parametrize("labels", [(), ("cat", "dog")])
def test_frames_of_films_are_found(labels: tuple[str, ...]) -> None:
    frames = frames_of_films(films=10, length=12)
    shown = [labels[number // 12 % 2] for number in range(120)] if labels else []
    evidence = check(samples_of(frames, shown), labels)
    assert evidence.verdict == "refuted"
    assert evidence.value is not None
    assert evidence.value > 0.9
    assert "samples look nearly alike (such as " in evidence.detail
    assert "declare it (-O data.group=" in evidence.detail
    assert "p-values and intervals are too small otherwise" in evidence.detail


@pytest.mark.parametrize("change", [saved_again, cropped])
def test_copies_are_found_wherever_they_are(change: Callable[..., Image.Image]) -> None:
    rng = np.random.default_rng(1)
    photos = [texture(rng) for _ in range(80)]
    evidence = check(samples_of([*photos, *map(change, photos[:8])]))
    assert evidence.verdict == "refuted"
    assert evidence.value is not None
    assert 12 / 88 <= evidence.value <= 16 / 88


def test_plain_images_that_were_drawn_independently_raise_no_alarm() -> None:
    refuted = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        places = rng.integers(8, SIDE - 8, (100, 2)).tolist()
        # in the order of the labels, as in class folders, and within these at random
        above = [place for place in places if place[0] < SIDE / 2]
        below = [place for place in places if place[0] >= SIDE / 2]
        labels = ["above"] * len(above) + ["below"] * len(below)
        images = [disc(row, col) for row, col in above + below]
        evidence = check(samples_of(images, labels), ("above", "below"))
        assert "so plain that only neighbours in order were compared" in evidence.detail
        refuted += evidence.verdict == "refuted"
    assert refuted <= 1  # promised: one in 200


def test_plain_frames_of_films_are_found() -> None:
    rng = np.random.default_rng(3)
    starts = rng.integers(8, SIDE - 20, (20, 2)).tolist()
    images = [disc(row, col + 2 * step) for row, col in starts for step in range(6)]
    assert check(samples_of(images)).verdict == "refuted"


def test_a_file_that_two_samples_show_is_one_source() -> None:
    rng = np.random.default_rng(4)
    samples = samples_of([texture(rng) for _ in range(40)])
    films = [
        replace(sample, frames=(replace(sample.frames[0], source=source),))
        for number, sample in enumerate(samples)
        for source in [FrameSource(Path(f"film{number // 2}.mp4"), number % 2, 0, 8)]
    ]
    evidence = check(films)
    assert evidence.verdict == "refuted"
    assert evidence.detail.startswith(
        "40 of 40 samples show what another shows (such as 0000.jpg and 0001.jpg)."
    )
    twice = [
        *samples,
        *(replace(sample, key=f"again-{sample.key}") for sample in samples),
    ]
    assert "80 of 80 samples show what another shows" in check(twice).detail


def test_no_more_than_some_hundred_are_looked_at() -> None:
    loads = []
    image = texture(np.random.default_rng(5))

    class Counted(Frame):
        def load(self) -> Image.Image:
            loads.append(self.key)
            return image

    samples = [
        Sample(key=str(n), frames=(Counted(str(n), lambda: image),) * 3)
        for n in range(10_000)
    ]
    evidence = check(samples)
    assert len(loads) == evidence.n == 300
    runs = np.array(sorted(map(int, loads))).reshape(-1, 4)
    assert (np.diff(runs, axis=1) == 1).all(), "neighbours are among them"
    # all are alike: so plain that nothing follows
    assert evidence.verdict == "inconclusive"


def test_neighbours_are_those_of_the_whole_data_set() -> None:
    class Film(FakeDataset):
        def __getitem__(self, index: int) -> Sample:
            index = range(len(self))[index]
            return frames[index]

    frames = samples_of(frames_of_films(films=30, length=8))
    data = Film(Film.Options(samples=240), Context())
    limited = frames[::8]
    assert check(limited).verdict == "inconclusive"
    assert check(limited, dataset=data).verdict == "refuted"


def test_of_films_and_photos_little_is_decoded(tmp_path: Path) -> None:
    from cuescope_sdk.data._media.survey import probe

    photo, film = tmp_path / "a.jpg", MediaFile.video(tmp_path / "a.mp4", 48)
    texture(np.random.default_rng(7), side=2000).save(photo)
    with film.open("rb") as file:
        level = np.asarray(key_picture(file)).mean()
    assert level == pytest.approx(24 * MediaFile.STEP % 256, abs=6), (
        "the middle: all are key frames here"
    )
    shown = probe(photo, 10**8).image()
    quick, whole = _quick_look(photo), shown.load()
    assert quick is not None
    assert quick.width < 400 < whole.width
    assert (difference_hash(quick) != difference_hash(whole)).mean() < 0.05
    frames = probe(film, 10**8).clip(8)
    assert (
        check([Sample(key=str(n), frames=(frames[n],)) for n in range(8)]).verdict
        == "refuted"
    )
    film.write_bytes(b"broken")
    photo.write_bytes(b"broken")
    gone = [Sample(key=str(n), frames=(shown,)) for n in range(8)]
    assert check(gone, seed=3).n == 8
    assert "show what another shows" in check(gone).detail


def test_what_cannot_be_compared_is_left_out() -> None:
    def gone() -> Image.Image:
        raise BadDataError("it is gone")

    rng = np.random.default_rng(6)
    samples = samples_of([texture(rng) for _ in range(20)])
    broken = [
        replace(sample, frames=(Frame(sample.key, gone),)) for sample in samples[:6]
    ]
    assert check([*broken[:1], *samples[1:]]).n == 19
    for few in (
        broken,
        [replace(sample, frames=()) for sample in samples],
        samples[:1],
    ):
        evidence = check(few)
        assert evidence.verdict == "inconclusive"
        assert evidence.detail.endswith(
            "was drawn together; too few were there to compare."
        )


def test_the_same_is_said_again() -> None:
    samples = samples_of(frames_of_films(films=100, length=5))
    assert check(samples) == check(samples)
    assert check(samples, seed=1).n == 300


# ------------------------------------------------------------------------------ answers in step


def answers_of_sources(seed: int, clips: int, effect: float) -> np.ndarray:
    """Right answers in 80 sources of so many clips; a source moves its odds by `effect`."""
    rng = np.random.default_rng(seed)
    odds = np.repeat(effect * rng.normal(size=80), clips) + 0.5
    return np.asarray(rng.random(80 * clips) < 1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize("place_is_held", [False, True])
@pytest.mark.parametrize("clips", [5, pytest.param(10, marks=pytest.mark.long)])
def test_answers_of_one_source_are_in_step(clips: int, place_is_held: bool) -> None:
    labels = ["cat", "dog"] * (40 * clips)
    for seed in range(10):
        right = answers_of_sources(seed, clips, effect=2.5)
        evidence = judged(right, labels, place_is_held=place_is_held)
        assert evidence.verdict == "refuted"
        assert evidence.doubt


def test_questions_that_are_asked_once_are_compared_with_each_other() -> None:
    """Each question of a benchmark is its own, and says nothing by its own mean."""
    right = answers_of_sources(0, 5, effect=2.5)
    questions = [f"What happens at second {number}?" for number in range(400)]
    evidence = judged(list(right), ["cat", "dog"] * 200, questions=questions)
    assert evidence.verdict == "refuted"


def test_errors_that_drift_are_no_doubt_where_the_place_is_held_alike() -> None:
    labels = ["cat", "dog"] * 200
    odds = np.linspace(-1.5, 3, 400)
    without_doubt = 0
    for seed in range(8):
        right = np.random.default_rng(seed).random(400) < 1 / (1 + np.exp(-odds))
        assert judged(right, labels).doubt
        evidence = judged(right, labels, place_is_held=True)
        without_doubt += evidence.doubt is None
    # a smooth curve leaves p uniform
    assert without_doubt >= 5


@pytest.mark.parametrize(
    # at a level of 1%, more than these come once in 5,000 times
    ("audits", "most"),
    [(50, 4), pytest.param(200, 8, marks=pytest.mark.long)],
)
def test_answers_drawn_by_themselves_are_not_in_step(audits: int, most: int) -> None:
    refuted = sum(
        judged(answers_of_sources(seed, 5, effect=0.0), ["cat", "dog"] * 200).verdict
        == "refuted"
        for seed in range(audits)
    )
    assert refuted <= most


def test_data_may_be_sorted_by_label() -> None:
    rng = np.random.default_rng(3)
    labels = ["cat"] * 200 + ["dog"] * 200
    right = rng.random(400) < np.repeat([0.3, 0.9], 200)
    assert judged(list(right), labels).verdict == "inconclusive"
    in_blocks = rng.random(400) < np.where(np.arange(400) % 200 < 60, 0.3, 0.9)
    assert judged(list(in_blocks), labels).verdict == "refuted"


@pytest.mark.parametrize("shared", [True, False])
def test_stems_of_names_show_what_shuffled_rows_share(shared: bool) -> None:
    rng = np.random.default_rng(1)
    clips = np.repeat(np.arange(60), 5)
    right = rng.random(60)[clips] < 0.6 if shared else rng.random(300) < 0.6
    order = rng.permutation(300)
    names = [f"clip{clips[row]}_{row % 5}" for row in order]
    evidence = judged(list(right[order]), ["cat"] * 300, names=names)
    assert (evidence.verdict == "refuted") == shared
    assert ("last number" in evidence.detail) == shared


# ---------------------------------------------------------------------------------- their parts


def test_the_hash_tells_where_it_gets_lighter() -> None:
    slope = np.linspace(0, 255, 72, dtype=np.uint8)
    right = difference_hash(Image.fromarray(np.tile(slope, (72, 1))))
    assert right[:64].all()
    assert not right[64:].any()
    down = difference_hash(Image.fromarray(np.tile(slope[:, None], (1, 72))))
    assert distances([right, down]).tolist() == [[0, 1], [1, 0]]
    grey = np.random.default_rng(0).integers(100, 102, (72, 72)).astype(np.uint8)
    assert not difference_hash(Image.fromarray(grey)).any(), (
        "noise of a plain area is none"
    )


def test_runs_of_neighbours_are_drawn_without_repeats() -> None:
    rng = np.random.default_rng(0)
    assert draw_runs(7, 8, rng) == list(range(7))
    indices = draw_runs(1003, 100, rng)
    assert len(indices) == len(set(indices)) == 100
    assert indices == sorted(indices)
    assert max(indices) < 1003


def test_neighbours_in_every_order_as_near_are_no_finding() -> None:
    distance = np.where(np.eye(40, dtype=bool), 0, 0.3)
    distance[:20, :20] *= 0.1  # all of one label are alike
    label = np.arange(40) // 20
    rng = np.random.default_rng(0)
    assert alike_pairs(distance, np.arange(40), label, rng) == []
    assert alike_pairs(distance, np.arange(40), 0 * label, rng) != []


@pytest.mark.long
@pytest.mark.real
@pytest.mark.skipif(
    not (ASSETS / "photos").is_dir() or not (ASSETS / "clips").is_dir(),
    reason="needs photos and clips: python tests/real_assets.py photos clips",
)
def test_real_photos_and_films() -> None:
    import av

    files = sorted((ASSETS / "photos").rglob("*.jpg"))
    photos = [Image.open(file).convert("RGB") for file in files]
    assert check(samples_of(photos)).verdict == "inconclusive"
    for change in (saved_again, cropped):
        evidence = check(samples_of([*photos, *map(change, photos)]))
        assert evidence.verdict == "refuted"
        assert evidence.value is not None
        assert evidence.value > 0.8
    frames = []
    for file in sorted((ASSETS / "clips").rglob("*.mp4")):
        with av.open(str(file)) as film:
            frames += [frame.to_image() for frame in film.decode(video=0)][::25]
    assert check(samples_of(frames)).verdict == "refuted"  # one frame a second
