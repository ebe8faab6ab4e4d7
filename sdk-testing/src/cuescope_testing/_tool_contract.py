"""Contract of tools, role by role: one result for each input, in order, the same every time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cuescope_core.capabilities import EmbedsPatches
from cuescope_sdk import Detection, Frame
from cuescope_sdk.grounding import Judgement
from cuescope_testing._asked_tool import AskedTool
from cuescope_testing._contract import NotApplicable, expect, lies_within, same_pixels


class ToolContract(AskedTool):
    """Checks of a tool in every role that it can fill, on frames of `data`.

    A plugin with a role of its own adds it to `known_roles` and gives `inputs` for it.

    `names` are what a detector or segmenter is asked for and what claims are about, `label` what a
    proposer is asked for.
    """

    def exercise(self) -> None:
        """Build it, and ask it in each role."""
        tool = self.build()
        for role in self.roles:
            self.ask(role, self.inputs(role), tool)

    # --------------------------------------------------------------------------- checks of any role

    def test_fills_a_role(self) -> None:
        """A method asks for a tool by role."""
        expect(
            self.roles,
            f"one of the methods {', '.join(role.method for role in self.known_roles)}",
            got="none",
            remedy="Name the method as the Protocol of the role does",
        )

    def test_gives_a_result_for_each_input(self) -> None:
        """One result an input; none for no input."""
        for role in self.roles:
            # none and one: what stacks a batch often fails there
            for count in (0, 1, len(self.inputs(role))):
                got = len(self.ask(role, self.inputs(role)[:count]))
                expect(
                    got == count,
                    f"{count} results as {role}",
                    got=got,
                    remedy="Return a result for each input",
                )

    def test_gives_results_in_order(self) -> None:
        """The result at a place belongs to the input at that place."""
        for role in self.roles:
            self.expect_alike(
                role,
                list(self.ask(role, self.inputs(role)[::-1]))[::-1],
                "the results reversed when the inputs are,",
                "Keep the order when batching",
            )

    def test_gives_the_same_twice(self) -> None:
        """An audit that runs again finds the same."""
        for role in self.roles:
            self.expect_alike(
                role,
                self.ask(role, self.inputs(role)),
                "the same results twice",
                "Sample nothing, or from a seeded generator made anew in each call",
            )

    def test_gives_the_same_in_any_batch(self) -> None:
        """Batch size is how fast, never what."""
        for role in self.roles:
            self.expect_alike(
                role,
                [self.ask(role, [item])[0] for item in self.inputs(role)],
                "the results of one by one",
                "Treat each input by itself",
            )

    def test_gives_the_same_when_built_again(self) -> None:
        """Nothing is drawn that a seed does not fix."""
        for role in self.roles:
            self.expect_alike(
                role,
                self.ask(role, self.inputs(role), self.build()),
                "the results of the first build",
                "Seed what is drawn in __init__",
            )

    def expect_alike(
        self,
        role: str,
        others: Sequence[Any],
        expected: str,
        remedy: str,
    ) -> None:
        """Raise ContractViolation where the role's results, pair by pair, are no such `others`."""
        # lengths are another check's
        alike = all(map(_alike, self.results(role), others))
        expect(alike, f"{expected} as {role}", got="others", remedy=remedy)

    def answered(self, role: str) -> list[tuple[Any, Any]]:
        """Each input with its result; raises NotApplicable where the tool cannot fill the role."""
        return list(zip(self.inputs(role), self.results(role), strict=True))

    # -------------------------------------------------------------------------- checks of one role

    def test_detects_what_was_asked_for(self) -> None:
        """Detections bear names that were asked for, scores within 0 and 1, boxes in the frame."""
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
                    f"detections of {', '.join(self.names)} within {size} pixels, "
                    "scores within 0 and 1",
                    got=detection,
                    remedy="Boxes are (x0, y0, x1, y1) in pixels of the frame",
                )

    def test_finds_nothing_without_names(self) -> None:
        """No name, nothing to find."""
        # raises NotApplicable where it is no detector
        self.results("detector")
        detections = self.tool.detect(self.frames, ())
        expect(
            not any(detections),
            "no detection without names",
            got=detections,
            remedy="Return a detection only for the names asked for",
        )

    def test_segments_at_the_size_of_the_frame(self) -> None:
        """Bool masks (name, row, col), an array a frame."""
        for frame, masks in self.answered("segmenter"):
            width, height = frame.load().size
            wanted = (len(self.names), height, width)
            expect(
                masks.dtype == bool and masks.shape == wanted,
                f"bool masks of shape {wanted}",
                got=f"{masks.dtype} of {masks.shape}",
                remedy="One mask a name, as large as it",
            )

    def test_embeds_in_one_space(self) -> None:
        """Rows are compared with one another, so they are finite and of one length."""
        rows = np.asarray(self.results("embedder"), float)
        expect(
            rows.ndim == 2 and rows.shape[1] > 1 and np.isfinite(rows).all(),
            "finite rows (frame, dim) of one length, 2 or more",
            got=f"shape {rows.shape}, finite: {bool(np.isfinite(rows).all())}",
            remedy="Pool over tokens to a vector of fixed length, in float32",
        )
        expect(
            not np.allclose(rows, rows[0]),
            "rows that differ between pictures",
            got="one for all",
            remedy="Check that the pixels reach the network",
        )

    def test_gives_patches_of_an_eye(self) -> None:
        """Where a cue is, is told by them."""
        if "embedder" not in self.roles or not isinstance(self.tool, EmbedsPatches):
            raise NotApplicable("asks about the patches of an embedder")
        if self.tool.why_no_patches is not None:
            raise NotApplicable(f"has no patches: {self.tool.why_no_patches}")
        frames = self.inputs("embedder")
        for patches in self.tool.patch_features(frames):
            expect(
                patches.ndim == 3
                and patches.dtype == np.float32
                and np.isfinite(patches).all(),
                "finite float32 patches (row, col, dim) of each frame",
                got=f"{patches.dtype} of shape {patches.shape}",
                remedy="Put tokens on their grid, or say why_no_patches",
            )

    def test_says_whose_eye_it_is(self) -> None:
        """Embeddings are cached by the fingerprint of the embedder."""
        self.results("embedder")
        fingerprint = getattr(self.tool, "fingerprint", None)
        expect(
            isinstance(fingerprint, str) and fingerprint,
            "a fingerprint of an embedder, some text",
            got=repr(fingerprint),
            remedy="Set self.fingerprint = digest(weights and preprocessing)",
        )

    def test_generates_text(self) -> None:
        """A completion is some text."""
        for text in self.results("text-generator"):
            expect(
                isinstance(text, str) and text.strip(),
                "some text",
                got=repr(text),
                remedy="Decode without special tokens, and return the completion alone",
            )

    def test_encodes_unit_rows(self) -> None:
        """Sentences are compared by dot product."""
        rows = self.results("sentence-encoder")
        # half precision keeps a norm to about a thousandth
        norms = np.linalg.norm(rows, axis=-1)
        expect(
            isinstance(rows, np.ndarray)
            and rows.ndim == 2
            and np.allclose(norms, 1, atol=1e-3),
            "unit rows (text, dim)",
            got=f"norms {norms}",
            remedy="Divide each row by its norm",
        )

    def test_tells_sentences_apart(self) -> None:
        """Other words, another direction."""
        rows = self.results("sentence-encoder")
        expect(
            not np.allclose(rows[0], rows[1], atol=1e-3),
            "another row for another sentence",
            got="the same",
            remedy="Check that the text reaches the encoder",
        )

    def test_edits_into_loadable_frames(self) -> None:
        """An edited frame is a Frame, RGB, of the same size."""
        for edit, edited in self.answered("image-editor"):
            before = edit.frame.load()
            after = edited.load()
            expect(
                (after.mode, after.size) == ("RGB", before.size),
                f"RGB of {before.size}",
                got=f"{after.mode} of {after.size}",
                remedy="Resize back, and convert('RGB')",
            )

    def test_keeps_what_lies_outside_of_the_mask(self) -> None:
        """Where the mask is False every pixel is the source's, to the bit."""
        for edit, edited in self.answered("image-editor"):
            expect(
                same_pixels(edit.frame, edited, edit.mask),
                "the source's own pixels outside of the mask",
                got="others",
                remedy="Put the edited pixels under the mask onto the source",
            )

    def test_edits_under_another_key(self) -> None:
        """Equal keys mean equal pixels: a changed frame has a key of its own."""
        for edit, edited in self.answered("image-editor"):
            expect(
                # an edit that changes nothing may keep the key
                same_pixels(edit.frame, edited) or edit.frame.key != edited.key,
                "another key for other pixels",
                got=edited.key,
                remedy="Use frame.derive(operation with all its parameters, function)",
            )

    def test_proposes_names(self) -> None:
        """Distinct words for what may be a cue, and not the label itself."""
        names = self.results("proposer")[0]
        worded = all(isinstance(name, str) and name.strip() for name in names)
        expect(
            worded and 0 < len(set(names)) == len(names) and self.label not in names,
            f"distinct names other than '{self.label}'",
            got=names,
            remedy="Drop repetitions, blanks and the label",
        )

    def test_guesses_names_that_fit_the_group_better(self) -> None:
        """A guess says by how much the group differs from the rest, or there is none."""
        for guess in self.results("namer"):
            expect(
                guess is None or (guess.name.strip() and guess.score > guess.elsewhere),
                "a name with a larger figure in the group than elsewhere, or None",
                got=guess,
                remedy="Take `NameGuess.best`",
            )

    def test_judges_each_claim(self) -> None:
        """A judgement a claim, in order; none where nothing is claimed."""
        for (_, claims), judgements in self.answered("claim-verifier"):
            kinds = set(map(type, judgements))
            expect(
                len(judgements) == len(claims) and kinds <= {Judgement},
                f"{len(claims)} judgements",
                got=judgements,
                remedy="Return a Judgement for each claim",
            )
        without_claims = self.tool.judge([(sample, ()) for sample in self.samples])
        expect(
            not any(map(len, without_claims)),
            "no judgement where nothing is claimed",
            got=without_claims,
            remedy="Return an empty list for a sample without claims",
        )

    def test_says_why_nothing_can_be_said(self) -> None:
        """A reason goes with "unverifiable", and with nothing else; a moment outside is open."""
        for (_, claims), judgements in self.answered("claim-verifier"):
            # counted above
            for claim, judgement in zip(claims, judgements, strict=False):
                open_ = judgement.verdict == "unverifiable"
                expect(
                    open_ == (judgement.reason is not None)
                    and (open_ or claim.frames != ()),
                    "a reason for 'unverifiable' alone, and that for a moment outside the video",
                    got=judgement,
                    remedy="Use Judgement.open(reason), and judged() for moments",
                )

    def test_points_into_the_video(self) -> None:
        """The frame of a judgement is one of the sample, its box lies within."""
        for (sample, _), judgements in self.answered("claim-verifier"):
            for judgement in judgements:
                # a judgement of no frame has no box, so any frame's size will do
                size = sample.frames[judgement.frame or 0].load().size
                expect(
                    judgement.frame in (None, *range(len(sample.frames)))
                    and (judgement.box is None or lies_within(judgement.box, size)),
                    "a frame of the sample, and a box in its pixels",
                    got=judgement,
                    remedy="Boxes are (x0, y0, x1, y1) in pixels, frames count from 0",
                )

    def test_judges_a_denial_the_other_way(self) -> None:
        """Support of "there is no chair" speaks against "there is a chair"."""
        opposite = {"supported": "unsupported", "unsupported": "supported"}
        for (sample, claims), judgements in self.answered("claim-verifier"):
            denials = [c.model_copy(update={"negated": not c.negated}) for c in claims]
            # what is open stays open when it is denied
            expected = [opposite.get(j.verdict, j.verdict) for j in judgements]
            [of_denials] = self.tool.judge([(sample, denials)])
            verdicts = [judgement.verdict for judgement in of_denials]
            expect(
                verdicts == expected,
                f"{expected} for the denials",
                got=verdicts,
                remedy="Judge the claim undenied, and turn the verdict round (judged() does)",
            )


def _alike(result: Any, other: Any) -> bool:
    """True if two results say the same, figures within a tolerance."""
    if isinstance(result, np.ndarray):
        # batches of other sizes add up in another order
        return result.shape == other.shape and bool(
            np.allclose(result, other, atol=1e-5)
        )
    if isinstance(result, Frame):
        return bool(result.key == other.key)
    words, figures = _words_and_figures(result)
    other_words, other_figures = _words_and_figures(other)
    # scores and boxes round otherwise in batches of another size
    return words == other_words and bool(np.allclose(figures, other_figures, atol=1e-3))


def _words_and_figures(result: Any) -> tuple[Any, list[float]]:
    """Split an answer of a tool into what must be equal and what may differ a little."""
    if not isinstance(result, Sequence) or isinstance(result, str):
        return result, []
    words: list[Any] = []
    figures: list[float] = []
    for part in result:
        match part:
            case Detection():
                words.append(part.name)
                figures += part.score, *part.box
            case Judgement():
                words.append((part.verdict, part.reason, part.frame))
                # a judgement need not have a score
                figures.append(part.score or 0.0)
            case _:
                words.append(part)
    return words, figures
