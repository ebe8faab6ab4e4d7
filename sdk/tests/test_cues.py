"""Cues as objects: what recognises them, their files, and files that are none."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_core.checksummed_files import write_sealed
from cuescope_sdk import (
    Audit,
    Context,
    DamagedFileError,
    Frame,
    Outcome,
    Response,
    Sample,
    UserError,
)
from cuescope_sdk.cues import (
    Candidate,
    Cue,
    Embedded,
    Origin,
    Recognition,
    Shown,
    choose_candidate,
    drawing_answers,
    learn,
    make_cue,
    refine_cue,
    unlearned_cue,
)
from cuescope_sdk.statistics import Groups, Roc

LABELS = ("a", "b", "c")
DIM = 12
SHOWN = np.random.default_rng(1).random(300) < np.where(
    np.arange(300) % 3 == 0, 0.85, 0.2
)


def picture(number: int) -> Frame:
    pixels = np.full((6, 6, 3), number % 251, dtype=np.uint8)
    pixels[0, 0] = number // 251, 200 * SHOWN[number], 0
    return Frame.from_array(pixels)


def embedding(frame: Frame) -> np.ndarray:
    """Noise of the picture's own, and 1.5 along the third axis where a pixel is green."""
    pixels = np.asarray(frame.load())
    row = np.random.default_rng(int(pixels[3, 3, 0]) + 256 * int(pixels[0, 0, 0]))
    point = 0.5 * row.normal(size=DIM)
    point[2] += 1.5 * (pixels[0, 0, 1] > 100)
    return point


class Asked(Audit):
    """An audit that counts what was asked."""

    count = 0


def audit_of(seed: int = 0, embedder: str = "eye") -> Asked:
    samples = []
    for number in range(len(SHOWN)):
        label = LABELS[number % 3]
        sample = Sample(
            key=f"s{number:03d}",
            frames=(picture(number),),
            choices=LABELS,
            label=label,
            annotations={"shown": bool(SHOWN[number])},
        )
        samples.append(sample)

    def respond(trials: Any) -> list[Outcome]:
        outcomes = []
        for trial in trials:
            audit.count += 1
            row = embedding(trial.sample.frames[0])
            point = row[::-1] if embedder != "eye" else row
            point = np.append(point, LABELS.index(trial.sample.label or "a"))
            # the cue draws the answer "a"
            answer = "a" if row[2] > 0.9 else (trial.sample.label or "a")
            logits = np.array([float(label == answer) for label in LABELS])
            outcomes.append(Outcome(trial, Response(logits=logits, embedding=point)))
        return outcomes

    audit = Asked(
        labels=LABELS,
        options=None,
        respond=respond,
        context=Context(cache=Path(), seed=seed),
        embedder=embedder,
        samples=tuple(samples),
    )
    audit.capabilities = audit.capabilities.model_copy(
        update={"outputs": frozenset({"logits", "embedding"})}
    )
    return audit


def given(count: int = 80, told: bool = True) -> tuple[Asked, Embedded, Cue]:
    audit = audit_of()
    data = Embedded.ask(audit)
    shows = np.where(np.arange(300) < count, SHOWN, -1)
    shown = Shown(shows, np.full(300, told) & (shows >= 0))
    origin = Origin("green dot", "samples", answer="a")
    return audit, data, make_cue(data, "eye", shown, audit.rng("cue"), origin)


def test_a_cue_is_recognised_in_samples_of_which_nothing_was_told() -> None:
    audit, data, cue = given()
    assert cue.sides()[0] <= 40
    before = audit.count
    found = Recognition.ask(audit, data, cue)
    assert audit.count == before  # the embedder is the same: nothing is asked
    left = ~found.told
    assert (Roc(found.log_odds[left], SHOWN[left]).auroc() or 0) > 0.93
    # calibrated: as many as there are
    assert found.probability[left].mean() == pytest.approx(SHOWN[left].mean(), abs=0.1)
    assert set(found.shown) >= set(np.flatnonzero(found.told & SHOWN))


def test_a_label_that_goes_with_the_cue_is_not_taken_for_it() -> None:
    rng = np.random.default_rng(0)
    label = np.arange(300) % 3
    points = rng.normal(size=(300, DIM))
    points[:, 0] += 5.0 * (label == 0)
    points[:, 2] += 3.0 * SHOWN
    learned = learn(points, label, SHOWN.astype(int), Groups.single(300), rng)
    unit = learned.direction / np.linalg.norm(learned.direction)
    assert unit[2] > 0.9 > 0.2 > abs(unit[0])
    assert (learned.auroc or 0) > 0.95


def test_without_a_sample_of_each_side_nothing_is_learned() -> None:
    audit = audit_of()
    data = Embedded.ask(audit)
    shows = np.where(np.arange(300) < 2, 1, -1)
    with pytest.raises(UserError, match="samples with the cue and samples without it"):
        learn(data.points, data.label, shows, data.groups, audit.rng("x"))


def test_another_embedder_learns_from_the_pictures(tmp_path: Path) -> None:
    _, _, cue = given()
    cue.save(tmp_path / "dot.cue")
    other = audit_of(embedder="other eye")
    data = Embedded.ask(other)
    found = Recognition.ask(other, data, Cue.load(tmp_path / "dot.cue"))
    assert found.relearned
    left = ~found.told
    assert (Roc(found.log_odds[left], SHOWN[left]).auroc() or 0) > 0.95
    # and of data that the examples are no part of
    fresh = replace(data, outcomes=data.outcomes[150:], points=data.points[150:])
    before = other.count
    again = Recognition.ask(other, fresh, cue)
    assert other.count > before
    assert not again.told.any()
    assert (again.agreement(SHOWN[150:], fresh) or 0) > 0.95


def test_marks_alone_are_a_cue_that_is_learned_where_it_is_used(tmp_path: Path) -> None:
    audit = audit_of()
    data = Embedded.ask(audit)
    marked = data.samples[:60]
    cue = unlearned_cue(marked, SHOWN[:60].tolist(), "dot", "marked")
    cue.save(tmp_path / "dot.cue")
    found = Recognition.ask(audit, data, Cue.load(tmp_path / "dot.cue"))
    left = ~found.told
    assert (Roc(found.log_odds[left], SHOWN[left]).auroc() or 0) > 0.9
    with pytest.raises(UserError, match="1 to 80, got 0"):
        unlearned_cue([], [], "dot", "marked")


def test_a_file_gives_back_what_was_saved_under_any_name(tmp_path: Path) -> None:
    _, _, cue = given()
    cue.save(tmp_path / "dot.cue")
    (tmp_path / "dot.cue").rename(tmp_path / "mailed (1).cue")
    loaded = Cue.load(tmp_path / "mailed (1).cue")
    assert (loaded.name, loaded.identity) == ("green dot", cue.identity)
    assert loaded.answer == "a"
    assert loaded.examples == cue.examples
    assert np.array_equal(loaded.recogniser.direction, cue.recogniser.direction)
    frame = loaded.samples(Embedded.ask(audit_of()).samples[0])[0].frames[0].load()
    assert frame.size == (6, 6)


def test_a_cue_is_its_examples() -> None:
    audit, data, cue = given()
    assert cue.named(" red\ndot ").identity == cue.identity
    shows = np.full(300, -1)
    shows[100:110] = SHOWN[100:110]
    more = refine_cue(audit, data, cue, shows, audit.rng("refine"))
    assert more.identity != cue.identity
    assert len(more.examples) == len(cue.examples) + 10
    assert more.recogniser.examples.shape[0] == len(more.examples)
    # a sample that was told otherwise is told anew
    first = data.contents[cue.examples[0].content]
    shows = np.full(300, -1)
    shows[first] = 1 - int(cue.examples[0].shows)
    turned = refine_cue(audit, data, cue, shows, audit.rng("refine"))
    assert len(turned.examples) == len(cue.examples)
    assert turned.examples[0].shows is not cue.examples[0].shows


def test_a_flipped_bit_is_told(tmp_path: Path) -> None:
    _, _, cue = given()
    file = tmp_path / "dot.cue"
    cue.save(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedFileError, match="is not what cuescope wrote"):
        Cue.load(file)
    with pytest.raises(UserError, match="no cue file"):
        Cue.load(tmp_path / "none.cue")


def arrays_of(file: Path) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(file.read_bytes())) as stored:
        return dict(stored)


def hostile(file: Path, **changes: Any) -> None:
    """A file with other arrays and a checksum that fits."""
    content = io.BytesIO()
    np.savez(content, **(arrays_of(file) | changes), allow_pickle=True)
    write_sealed(file, content.getvalue(), name="cue")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"direction": np.array([{"a": 1}], dtype=object)}, "another size"),
        ({"direction": np.full(DIM + 1, np.nan)}, "finite"),
        ({"embeddings": np.zeros((3, DIM + 1), np.float32)}, "another shape"),
        ({"ends": np.array([5, 3])}, "another size than the file says"),
        ({"facts": np.frombuffer(b"[]", np.uint8)}, "valid dictionary"),
        (
            {"facts": np.frombuffer(b'{"schema_version": 2}', np.uint8)},
            "schema_version",
        ),
        ({"facts": np.frombuffer(b"{" * 9999, np.uint8)}, "is no JSON"),
    ],
)
def test_a_strangers_file_is_refused_in_words(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    _, _, cue = given()
    file = tmp_path / "dot.cue"
    cue.save(file)
    hostile(file, **changes)
    with pytest.raises(UserError, match=said):
        Cue.load(file)


def test_pictures_of_a_stranger_have_a_size(tmp_path: Path) -> None:
    _, data, cue = given()
    large = io.BytesIO()
    Frame.from_array(np.zeros((4000, 4000, 3), np.uint8)).load().save(large, "PNG")
    for content, said in (
        (large.getvalue(), "too large"),
        (b"GIF89a", "cannot be read"),
    ):
        forged = replace(cue, pictures=(content,) * len(cue.pictures))
        forged.save(tmp_path / "dot.cue")
        sample = Cue.load(tmp_path / "dot.cue").samples(data.samples[0])[0]
        with pytest.raises(UserError, match=said):
            sample.frames[0].load()


def test_ten_samples_choose_the_candidate_that_agrees_with_them() -> None:
    shows = np.full(300, -1)
    shows[:10] = SHOWN[:10]
    right = Candidate("right", np.where(SHOWN, 0.9, 0.1))
    wrong = Candidate("wrong", np.where(np.arange(300) % 2, 0.9, 0.1))
    chosen, posterior = choose_candidate([wrong, right], shows)
    assert chosen is right
    # by hand: likelihoods beside that of even odds
    shown = 0.9 * 0.967 + 0.1 * 0.033
    likelihood = shown**10
    hits = ((np.arange(10) % 2 == 1) == SHOWN[:10]).sum()
    other = shown**hits * (1 - shown) ** (10 - hits)
    assert posterior == pytest.approx(likelihood / (likelihood + other + 0.5**10))
    chosen, _ = choose_candidate([wrong], shows)
    assert chosen is None


def test_what_draws_an_answer_is_a_candidate() -> None:
    audit = audit_of()
    data = Embedded.ask(audit)
    [candidate] = drawing_answers(audit, data)
    assert candidate.answer == "a"
    assert (Roc(candidate.probability, SHOWN).auroc() or 0) > 0.95
