"""One fake tool a role, each right about the fake data set."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from PIL import Image, ImageDraw

from cuescope_sdk import Detection, Frame, ImageEdit, Plugin, Sample, digest, generator
from cuescope_sdk.grounding import Case, Claim, Judgement, judge_claims
from cuescope_sdk.tools import FrameGroup, NameGuess
from cuescope_testing._fake_data import CORNERS, CUE, DECOY, LABELS, SIDE, shows

# -------------------------------------------------------------------------------------- fake tools


Box = tuple[float, float, float, float]


class FakeDetector(Plugin):
    """Finds the red corner and the blue corner."""

    def detect(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[tuple[Detection, ...]]:
        """A detection for each of the names that a frame shows."""
        return [self._detect(frame, names) for frame in frames]

    def _detect(self, frame: Frame, names: Sequence[str]) -> tuple[Detection, ...]:
        visible = [name for name in names if _is_visible(frame, name)]
        return tuple(
            Detection(name=name, score=0.9, box=_box(frame, name)) for name in visible
        )


class FakeEmbedder(Plugin):
    """An outside eye: the 8 x 8 cells of a picture, with no noise and no words."""

    fingerprint = digest("fake-embedder", 1)
    why_no_patches: str | None = None

    def embed(self, frames: Sequence[Frame]) -> np.ndarray:
        """Rows (frame, dim)."""
        rows = [_cells_of(frame).ravel() for frame in frames]
        return np.array(rows).reshape(len(frames), SIDE * SIDE * 3)

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[np.ndarray]:
        """The cells, (row, col, 3); there is one layer."""
        return list(map(_cells_of, frames))


def _cells_of(frame: Frame) -> np.ndarray:
    return np.asarray(frame.load().resize((SIDE, SIDE)), np.float32) / 255


class FakeSegmenter(Plugin):
    """Outlines the corners."""

    def segment(
        self,
        frames: Sequence[Frame],
        names: Sequence[str],
    ) -> list[np.ndarray]:
        """Bool masks (name, row, col), an array a frame."""
        return [np.stack([_mask(frame, name) for name in names]) for frame in frames]


class FakeTextGenerator(Plugin):
    """Says the prompt's last word, and no more."""

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """A completion a prompt."""
        return [
            # an answer that can be told from the prompt, and is never empty
            f"{prompt.split()[-1]}." if prompt.split() else "Nothing."
            for prompt in prompts
        ]


class FakeSentenceEncoder(Plugin):
    """A random direction a word; a sentence is their mean."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit rows (text, dim)."""
        rows = np.zeros((len(texts), 16))
        for row, text in zip(rows, texts, strict=True):
            # the full stop is there in every text, so that an empty one has a direction too
            for word in f"{text} .".split():
                # by word: texts that share words lie nearer
                row += generator(0, "fake-encoder", word).normal(size=16)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


class FakeImageEditor(Plugin):
    """Paints the named corner grey, or everything where none is named; under the mask alone."""

    def edit(self, edits: Sequence[ImageEdit]) -> list[Frame]:
        """The changed frames, an edit each; it draws nothing, so the seed changes nothing."""
        frames = []
        for edit in edits:
            # all that decides the pixels is in the key
            name = f"fake-edit {edit.instruction} {digest(edit.mask)}"
            paint = partial(_paint, instruction=edit.instruction, mask=edit.mask)
            frames.append(edit.frame.derive(name, paint))
        return frames


class FakeProposer(Plugin):
    """Names both corners for every label, and the other labels."""

    def propose(self, label: str) -> list[str]:
        """Names of what may be a cue."""
        return [CUE, DECOY, *(other for other in LABELS if other != label)]


class FakeClaimVerifier(Plugin):
    """Sees whether a corner is there, and nothing else."""

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        judgements = []
        for sample, claims in cases:
            judge = partial(_judge, sample)
            judgements.append(judge_claims(claims, len(sample.frames), judge))
        return judgements


class FakeNamer(Plugin):
    """Takes the word that lies nearer to a group than to the rest."""

    def name_groups(self, groups: Sequence[FrameGroup]) -> list[NameGuess | None]:
        """One of three words, by the texts' own embeddings."""
        words = ("red corner", "blue corner", "grey")
        guesses = []
        for group in groups:
            rows = group.embed_texts(words)
            guesses.append(
                NameGuess.best(words, rows @ group.centre, rows @ group.elsewhere)
            )
        return guesses


FAKE_TOOLS: dict[str, type[Plugin]] = {
    "detector": FakeDetector,
    "segmenter": FakeSegmenter,
    "embedder": FakeEmbedder,
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


def _is_visible(frame: Frame, name: str) -> bool:
    return name in CORNERS and shows(frame, *CORNERS[name])


def _mask(frame: Frame, name: str) -> np.ndarray:
    width, height = frame.load().size
    mask = np.zeros((height, width), dtype=bool)
    if _is_visible(frame, name):
        x0, y0, x1, y1 = map(int, _box(frame, name))
        mask[y0:y1, x0:x1] = True
    return mask


def _judge(sample: Sample, claim: Claim, index: int) -> Judgement:
    # it has seen nothing else, and must not guess
    if claim.kind != "entity" or claim.subject not in CORNERS:
        return Judgement.open("out of vocabulary")
    frame = sample.frames[index]
    present = _is_visible(frame, claim.subject)
    box = _box(frame, claim.subject) if present else None
    return Judgement.of(present, score=0.9, frame=index, box=box)


def _paint(
    image: Image.Image,
    instruction: str,
    mask: np.ndarray | None,
) -> Image.Image:
    changed = image.copy()
    scale = image.width / SIDE
    boxes = [box for name, (box, _) in CORNERS.items() if name in instruction]
    for x0, y0, x1, y1 in boxes or [(0, 0, SIDE, SIDE)]:
        # Pillow's rectangles include their last row and column
        edges = (x0 * scale, y0 * scale, x1 * scale - 1, y1 * scale - 1)
        ImageDraw.Draw(changed).rectangle(edges, fill=(128, 128, 128))
    # no mask: anything may change
    if mask is None:
        return changed
    return Image.fromarray(
        np.where(mask[..., None], np.asarray(changed), np.asarray(image))
    )
