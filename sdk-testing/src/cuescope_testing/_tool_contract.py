"""Contract of tools, role by role: one result for each input, in order, the same every time."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from cuescope_core.capabilities import ROLES, EmbedsPatches, ToolRole
from cuescope_sdk import Detection, Frame, ImageEdit, TakesResults, generator
from cuescope_sdk.grounding import CLAIM_VERIFIER, Claim, Judgement
from cuescope_sdk.maths import normalise
from cuescope_sdk.tools import NAMER, FrameGroup
from cuescope_testing._contract import (
    NotApplicable,
    PerClass,
    ShownContract,
    expect,
    lies_within,
    same_pixels,
)
from cuescope_testing._fake_data import CUE, DECOY

PROMPTS = ("Name an animal.", "Name a plant.", "Say where a tree stands.")


class ToolContract(ShownContract):
    """Checks of a tool in every role that it can fill, on frames of `data`.

    A plugin with a role of its own adds it to `known_roles` and gives `inputs` for it.

    `names` are what a detector or segmenter is asked for and what claims are about, `label` what a
    proposer is asked for.
    """

    kind = "tool"
    names: ClassVar[tuple[str, ...]] = (CUE, DECOY)
    label: ClassVar[str] = "top"
    count: ClassVar[int] = 4
    known_roles: ClassVar[tuple[ToolRole, ...]] = (
        *ROLES.values(),
        CLAIM_VERIFIER,
        NAMER,
    )
    tool: PerClass[Any] = PerClass(lambda contract: contract.built.of(contract))

    @property
    def frames(self) -> list[Frame]:
        """One frame of each of the samples."""
        return [sample.frames[0] for sample in self.samples]

    @property
    def roles(self) -> list[str]:
        """The roles that it can fill."""
        return [
            role.name for role in self.known_roles if hasattr(self.plugin, role.method)
        ]

    def inputs(self, role: str) -> list[Any]:
        """Inputs of a tool of this role, item by item."""
        match role:
            case "image-editor":
                return [self._edit(frame) for frame in self.frames]
            case "detector" | "segmenter" | "embedder":
                return list(self.frames)
            case "claim-verifier":
                return [(sample, claims_about(self.names)) for sample in self.samples]
            case "namer":
                return [self._group(index) for index in range(len(self.frames))]
            case "proposer":
                return [self.label]
        return list(PROMPTS)

    def _edit(self, frame: Frame) -> ImageEdit:
        """All but the image's left third may change."""
        width, height = frame.load().size
        # part must stay, or a tool that repaints the whole frame would pass
        may_change = np.arange(width) >= width // 3
        mask = np.broadcast_to(may_change, (height, width))
        return ImageEdit(frame, f"remove the {self.names[0]}", mask)

    def _group(self, index: int) -> FrameGroup:
        """One frame, and the others; a text is a direction of its own in four dimensions."""

        def embed_texts(texts: Sequence[str]) -> np.ndarray:
            draws = [generator(0, "text", text).normal(size=4) for text in texts]
            return normalise(np.stack(draws))

        own, *others = np.roll(np.array(self.frames, dtype=object), -index)
        centre = np.eye(4, dtype=np.float32)[index % 4]
        # the three other directions: the rest is unlike the group
        rest = (1 - centre) / 3
        return FrameGroup(
            (own,), tuple(others), centre, rest, embed_texts, (self.label,)
        )

    def ask(self, role: str, inputs: Sequence[Any], tool: Any = None) -> Any:
        """The tool's results for these inputs."""
        methods = {known.name: known.method for known in self.known_roles}
        method = getattr(self.tool if tool is None else tool, methods[role])
        # these two are asked for names beside their frames
        if role in ("detector", "segmenter"):
            return method(inputs, self.names)
        if role == "proposer":
            # a proposer takes one label a call, the other roles take a list
            return list(map(method, inputs))
        return method(inputs)

    def answered(self, role: str) -> list[tuple[Any, Any]]:
        """Each input with its result; raises NotApplicable where the tool cannot fill the role."""
        if role not in self.roles:
            raise NotApplicable(f"asks about a {role}, which this tool is not")
        inputs = self.inputs(role)
        return list(zip(inputs, self.ask(role, inputs), strict=True))

    def results(self, role: str) -> Any:
        """The tool's results in a role; raises NotApplicable where it cannot fill it."""
        return [result for _, result in self.answered(role)]

    def exercise(self) -> None:
        """Build it, and ask it in each role."""
        tool = self.build()
        for role in self.roles:
            self.ask(role, self.inputs(role), tool)

    def test_gives_a_result_for_each_input(self) -> None:
        """A tool has the method of its role, which is asked about some inputs, one, or none."""
        expect(self.roles, "the method of a role", got="none")
        for role in self.roles:
            for count in (0, 1, len(self.inputs(role))):
                got = len(self.ask(role, self.inputs(role)[:count]))
                expect(got == count, f"{count} results as {role}", got=got)

    def test_gives_the_same_in_any_batch(self) -> None:
        """Treat each input by itself, keep the order, and seed what is drawn in every call."""
        for role in self.roles:
            inputs = self.inputs(role)
            results = self.ask(role, inputs)
            others = {
                "twice": self.ask(role, inputs),
                "one by one": [self.ask(role, [item])[0] for item in inputs],
                "in reverse": list(self.ask(role, inputs[::-1]))[::-1],
                "when built again": self.ask(role, inputs, self.build()),
            }
            for how, other in others.items():
                # lengths are another check's
                same = all(map(_alike, results, other))
                expect(same, f"the same results {how} as {role}", got="others")

    def test_detects_what_was_asked_for(self) -> None:
        """Names that were asked for, scores within 0 and 1, boxes (x0, y0, x1, y1) in pixels."""
        for frame, detections in self.answered("detector"):
            size = frame.load().size
            for detection in detections:
                is_named = (
                    isinstance(detection, Detection) and detection.name in self.names
                )
                expect(
                    is_named
                    and 0 <= detection.score <= 1
                    and lies_within(detection.box, size),
                    f"detections of {self.names} within {size} pixels",
                    got=detection,
                )
        detections = self.tool.detect(self.frames, ())
        expect(not any(detections), "no detection without names", got=detections)

    def test_segments_at_the_size_of_the_frame(self) -> None:
        """Bool masks (name, row, col), an array a frame."""
        for frame, masks in self.answered("segmenter"):
            width, height = frame.load().size
            wanted = (len(self.names), height, width)
            fits = masks.dtype == bool and masks.shape == wanted
            expect(fits, f"bool masks of shape {wanted}", got=masks.shape)

    def test_embeds_in_one_space(self) -> None:
        """Rows are finite, of one length, differ between pictures and are cached by fingerprint."""
        rows = np.asarray(self.results("embedder"), float)
        fits = rows.ndim == 2 and rows.shape[1] > 1
        finite = np.isfinite(rows).all()
        expect(
            fits and finite,
            "finite rows (frame, dim) of one length, 2 or more",
            got=rows,
        )
        expect(not np.allclose(rows, rows[0]), "rows that differ", got="one for all")
        fingerprint = getattr(self.tool, "fingerprint", None)
        is_text = isinstance(fingerprint, str) and fingerprint
        expect(is_text, "a fingerprint, some text", got=repr(fingerprint))

    def test_gives_patches_of_an_eye(self) -> None:
        """Where a cue is, is told by them: put tokens on their grid, or say why_no_patches."""
        if "embedder" not in self.roles or not isinstance(self.tool, EmbedsPatches):
            raise NotApplicable("asks about the patches of an embedder")
        if self.tool.why_no_patches is not None:
            raise NotApplicable(f"has no patches: {self.tool.why_no_patches}")
        for patches in self.tool.patch_features(self.frames):
            fits = patches.ndim == 3 and patches.dtype == np.float32
            finite = np.isfinite(patches).all()
            expect(fits and finite, "finite float32 (row, col, dim)", got=patches.shape)

    def test_generates_text(self) -> None:
        """The completion alone, without special tokens."""
        for text in self.results("text-generator"):
            is_text = isinstance(text, str) and text.strip()
            expect(is_text, "some text", got=repr(text))

    def test_encodes_unit_rows(self) -> None:
        """Sentences are compared by dot product: divide each row by its norm."""
        rows = np.asarray(self.results("sentence-encoder"))
        # half precision keeps a norm to about a thousandth
        norms = np.linalg.norm(rows, axis=-1)
        fits = rows.ndim == 2 and np.allclose(norms, 1, atol=1e-3)
        expect(fits, "unit rows (text, dim)", got=f"norms {norms}")
        same = np.allclose(rows[0], rows[1], atol=1e-3)
        expect(not same, "another row for another sentence", got="the same")

    def test_edits_under_the_mask_alone(self) -> None:
        """RGB of the same size, the source's pixels outside of the mask, a key by frame.derive."""
        for edit, edited in self.answered("image-editor"):
            before = edit.frame.load()
            after = edited.load()
            fits = (after.mode, after.size) == ("RGB", before.size)
            expect(fits, f"RGB of {before.size}", got=f"{after.mode} of {after.size}")
            kept = same_pixels(edit.frame, edited, edit.mask)
            expect(kept, "the source's own pixels outside of the mask", got="others")
            # an edit that changes nothing may keep the key
            named = same_pixels(edit.frame, edited) or edit.frame.key != edited.key
            expect(named, "another key for other pixels", got=edited.key)

    def test_proposes_names(self) -> None:
        """Distinct words for what may be a cue, and not the label itself."""
        names = self.results("proposer")[0]
        worded = all(isinstance(name, str) and name.strip() for name in names)
        distinct = 0 < len(set(names)) == len(names)
        expect(worded and distinct, "distinct names, in words", got=names)
        expect(self.label not in names, f"no '{self.label}'", got=names)

    def test_names_more_by_results(self) -> None:
        """Told what became of names, a proposer has others, or none: `TakesResults`."""
        if not isinstance(self.tool, TakesResults):
            raise NotApplicable("asks about a proposer that takes results")
        told = dict.fromkeys(self.tool.propose(self.label), 0.0)
        more = self.tool.propose_more(self.label, told)
        repeated = [name for name in more if name in (*told, self.label)]
        expect(not repeated, "names that were not told", got=repeated)

    def test_guesses_names_that_fit_the_group_better(self) -> None:
        """A guess has a larger figure in the group than elsewhere, or is None: `NameGuess.best`."""
        for guess in self.results("namer"):
            fits = guess is None or (
                guess.name.strip() and guess.score > guess.elsewhere
            )
            expect(fits, "a name that fits better, or None", got=guess)

    def test_judges_each_claim(self) -> None:
        """A judgement a claim in order, none without; frames and boxes lie in the sample.

        A reason goes with "unverifiable" alone, and that with moments outside (Judgement.open).
        """
        for (sample, claims), judgements in self.answered("claim-verifier"):
            whole = len(judgements) == len(claims)
            kinds = set(map(type, judgements))
            expect(
                whole and kinds <= {Judgement}, "a judgement a claim", got=judgements
            )
            for claim, judgement in zip(claims, judgements, strict=True):
                open_ = judgement.verdict == "unverifiable"
                fits = open_ == (judgement.reason is not None)
                fits = fits and (open_ or claim.frames != ())
                expect(fits, "a reason for 'unverifiable' alone", got=judgement)
                known = judgement.frame in (None, *range(len(sample.frames)))
                expect(known, "a frame of the sample", got=judgement)
                # a judgement of no frame has no box, so any frame's size will do
                size = sample.frames[judgement.frame or 0].load().size
                fits = judgement.box is None or lies_within(judgement.box, size)
                expect(fits, "a box in the frame's pixels", got=judgement)
        without_claims = self.tool.judge([(sample, ()) for sample in self.samples])
        expect(not any(map(len, without_claims)), "no judgement without a claim")

    def test_judges_a_denial_the_other_way(self) -> None:
        """Support of "there is no chair" speaks against "there is a chair" (judged() turns it)."""
        opposite = {"supported": "unsupported", "unsupported": "supported"}
        for (sample, claims), judgements in self.answered("claim-verifier"):
            denials = [c.model_copy(update={"negated": not c.negated}) for c in claims]
            # what is open stays open when it is denied
            expected = [opposite.get(j.verdict, j.verdict) for j in judgements]
            [of_denials] = self.tool.judge([(sample, denials)])
            verdicts = [judgement.verdict for judgement in of_denials]
            expect(verdicts == expected, f"{expected} for the denials", got=verdicts)


def claims_about(names: Sequence[str]) -> tuple[Claim, ...]:
    """Claims of every kind: of a moment, of any and of none, of what is there and what is not."""
    first = names[0]
    last = names[-1]
    presence = _claim("entity", first)
    return (
        presence,
        presence.model_copy(update={"negated": True}),
        _claim("entity", last, frames=(0,)),
        presence.model_copy(update={"frames": ()}),
        _claim("attribute", first, "red"),
        _claim("relation", first, "above", last),
        _claim("action", first, "move left"),
        _claim("ego-motion", "", "turn left"),
        _claim("temporal", "", "before", parts=(presence, _claim("entity", last))),
    )


def _claim(kind: str, *words: str, **more: Any) -> Claim:
    """Its words are subject, predicate and object, as far as there are such."""
    said = dict(zip(("subject", "predicate", "object"), words, strict=False))
    text = " ".join(filter(None, words))
    return Claim.model_validate({"kind": kind, "text": text, **said, **more})


def _alike(result: Any, other: Any) -> bool:
    """True if two results say the same, figures within what batches of other sizes round."""
    match result:
        case np.ndarray():
            return result.shape == other.shape and np.allclose(result, other, atol=1e-5)
        case Frame():
            return bool(result.key == other.key)
        case Detection():
            figures = (result.score, *result.box), (other.score, *other.box)
            return result.name == other.name and np.allclose(*figures, atol=1e-3)
        case Judgement():
            words, others = [(j.verdict, j.reason, j.frame) for j in (result, other)]
            near = np.isclose(result.score or 0.0, other.score or 0.0, atol=1e-3)
            return words == others and bool(near)
        case list() | tuple():
            return len(result) == len(other) and all(map(_alike, result, other))
    return bool(result == other)
