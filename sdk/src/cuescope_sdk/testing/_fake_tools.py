"""One fake tool a role, each right about the fake data set."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from cuescope_sdk import Detection, Frame, ImageEdit, Plugin, Sample, digest, generator
from cuescope_sdk.grounding import Case, Claim, ClaimVerifier, Judgement
from cuescope_sdk.grounding._claims import judge_claim, per_frame
from cuescope_sdk.testing._fake_data import CUE, CUE_BOX, DECOY, DECOY_BOX, LABELS, SIDE, shows
from cuescope_sdk.tools import FrameGroup, NameGuess, best_name


def claim(kind: str, subject: str, *frames: int, **more: Any) -> Claim:
    """A claim about these frames, any where none is named."""
    words = (subject, more.get("predicate"), more.get("object"))
    fields = {"text": " ".join(filter(None, words)), "frames": frames or None, **more}
    return Claim.model_validate({"kind": kind, "subject": subject, **fields})


def entity(subject: str, *frames: int, **more: Any) -> Claim:
    """It is on screen."""
    return claim("entity", subject, *frames, **more)


def attribute(subject: str, predicate: str, *frames: int, **more: Any) -> Claim:
    """It is so."""
    return claim("attribute", subject, *frames, predicate=predicate, **more)


def action(subject: str, verb: str, *frames: int, **more: Any) -> Claim:
    """It does so."""
    return claim("action", subject, *frames, predicate=verb, **more)


def relation(subject: str, predicate: str, other: str, *frames: int, **more: Any) -> Claim:
    """One is so to the other."""
    return claim("relation", subject, *frames, predicate=predicate, object=other, **more)


def motion(predicate: str, *frames: int, **more: Any) -> Claim:
    """The camera does so."""
    return claim("ego-motion", "", *frames, predicate=predicate, **more)


def order(part: Claim, predicate: str, other: Claim, **more: Any) -> Claim:
    """One before, after or while the other."""
    return claim("temporal", "", predicate=predicate, parts=(part, other), **more)


def says(verifier: ClaimVerifier, sample: Sample, *claims: Claim) -> list[str]:
    """The verdict on each claim, or the reason that there is none."""
    [judgements] = verifier.judge([(sample, claims)])
    return [judgement.reason or judgement.verdict for judgement in judgements]


# -------------------------------------------------------------------------------------- fake tools


CORNERS = {CUE: (CUE_BOX, 0), DECOY: (DECOY_BOX, 2)}
Box = tuple[float, float, float, float]


class FakeDetector(Plugin):
    """Finds the red corner and the blue corner."""

    def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[tuple[Detection, ...]]:
        """A detection for each of the names that a frame shows."""
        return [
            tuple(
                Detection(name=name, score=0.9, box=_box(frame, name))
                for name in names
                if name in CORNERS and shows(frame, *CORNERS[name])
            )
            for frame in frames
        ]


class FakeSegmenter(Plugin):
    """Outlines the corners."""

    def segment(self, frames: Sequence[Frame], names: Sequence[str]) -> list[np.ndarray]:
        """Bool masks (name, row, col), an array a frame."""
        return [np.stack([_mask(frame, name) for name in names]) for frame in frames]


class FakeTextGenerator(Plugin):
    """Says the prompt's last word, and no more."""

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """A completion a prompt."""
        return [f"{prompt.split()[-1]}." if prompt.split() else "Nothing." for prompt in prompts]


class FakeSentenceEncoder(Plugin):
    """A random direction a word; a sentence is their mean."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows (text, dim)."""
        rows = [
            np.sum([_direction(word) for word in f"{text} .".split()], axis=0) for text in texts
        ]
        stacked = np.reshape(rows, (len(texts), 16))
        return np.asarray(stacked / np.linalg.norm(stacked, axis=1, keepdims=True))


class FakeImageEditor(Plugin):
    """Paints the named corner grey, or everything where none is named; under the mask alone."""

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """The changed frames, an edit each; it draws nothing, so the seed changes nothing."""
        return [
            edit.frame.derive(
                f"fake-edit {edit.instruction} {digest(edit.mask)}",
                partial(_painted, instruction=edit.instruction, mask=edit.mask),
            )
            for edit in edits
        ]


class FakeProposer(Plugin):
    """Names both corners for every label, and the other labels."""

    def propose(self, label: str) -> list[str]:
        """Names of what may be a cue."""
        return [CUE, DECOY, *(other for other in LABELS if other != label)]


class FakeClaimVerifier(Plugin):
    """Sees whether a corner is there, and nothing else."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        return [
            [judge_claim(claim, len(sample.frames), per_frame(_sees(sample))) for claim in claims]
            for sample, claims in cases
        ]


class FakeNamer(Plugin):
    """Takes the word that lies nearer to a group than to the rest."""

    def name_groups(self, groups: Sequence[FrameGroup]) -> list[NameGuess | None]:
        """One of three words, by the texts' own embeddings."""
        return [self._guess(group) for group in groups]

    def _guess(self, group: FrameGroup) -> NameGuess | None:
        words = ("red corner", "blue corner", "grey")
        rows = group.embed_texts(words)
        return best_name(words, rows @ group.centre, rows @ group.elsewhere)


FAKE_TOOLS: dict[str, type[Plugin]] = {
    "detector": FakeDetector,
    "segmenter": FakeSegmenter,
    "text-generator": FakeTextGenerator,
    "sentence-encoder": FakeSentenceEncoder,
    "image-editor": FakeImageEditor,
    "proposer": FakeProposer,
    "claim-verifier": FakeClaimVerifier,
    "namer": FakeNamer,
}


def _box(frame: Frame, name: str) -> Box:
    scale = frame.load().width / SIDE
    x0, y0, x1, y1 = CORNERS[name][0]
    return x0 * scale, y0 * scale, x1 * scale, y1 * scale


def _mask(frame: Frame, name: str) -> np.ndarray:
    width, height = frame.load().size
    mask = np.zeros((height, width), dtype=bool)
    if name in CORNERS and shows(frame, *CORNERS[name]):
        x0, y0, x1, y1 = map(int, _box(frame, name))
        mask[y0:y1, x0:x1] = True
    return mask


def _sees(sample: Sample) -> Callable[[Claim, int], Judgement]:
    def at(claim: Claim, index: int) -> Judgement:
        if claim.kind != "entity" or claim.subject not in CORNERS:
            return Judgement.open("out of vocabulary")
        frame = sample.frames[index]
        present = shows(frame, *CORNERS[claim.subject])
        box = _box(frame, claim.subject) if present else None
        return Judgement.of(present, score=0.9, frame=index, box=box)

    return at


def _direction(word: str) -> np.ndarray:
    return generator(0, "fake-encoder", word).normal(size=16)


def _painted(image: Image.Image, instruction: str, mask: np.ndarray | None) -> Image.Image:
    changed = image.copy()
    scale = image.width / SIDE
    boxes = [box for name, (box, _) in CORNERS.items() if name in instruction]
    for x0, y0, x1, y1 in boxes or [(0, 0, SIDE, SIDE)]:
        edges = (x0 * scale, y0 * scale, x1 * scale - 1, y1 * scale - 1)
        ImageDraw.Draw(changed).rectangle(edges, fill=(128, 128, 128))
    if mask is None:
        return changed
    return Image.fromarray(np.where(mask[..., None], np.asarray(changed), np.asarray(image)))
