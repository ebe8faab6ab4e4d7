"""What a tool must hold, role by role: one result for each input, in order, the same every time."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from cuescope.capabilities import ROLES, ToolRole
from cuescope.spec import Spec
from cuescope_sdk import Context, Detection, Frame, Sample
from cuescope_sdk.grounding import CLAIM_VERIFIER, Case, Claim, Judgement
from cuescope_sdk.testing._contract import Contract, NotApplicable, PerClass, expect
from cuescope_sdk.testing._fake_data import CUE, DECOY, FakeDataset
from cuescope_sdk.testing._fake_tools import action, attribute, entity, motion, order, relation
from cuescope_sdk.testing._running import NAME, PluginShelf

PROMPTS = ("Name an animal.", "Name a plant.", "Say where a tree stands.")


class ToolContract(Contract):
    """Checks of a tool in every role that it can fill, on frames of `data`.

    A plugin with a role of its own adds it to `known_roles` and gives `inputs` for it.

    `names` are what a detector or segmenter is asked for and what claims are about, `label` what a
    proposer is asked for.
    """

    kind = "tool"
    data: ClassVar[type[Any]] = FakeDataset
    data_options: ClassVar[Mapping[str, Any]] = {}
    names: ClassVar[tuple[str, ...]] = (CUE, DECOY)
    label: ClassVar[str] = "top"
    count: ClassVar[int] = 4
    known_roles: ClassVar[tuple[ToolRole, ...]] = (*ROLES.values(), CLAIM_VERIFIER)
    tool: PerClass[Any] = PerClass(lambda contract: contract.build())
    samples: PerClass[list[Sample]] = PerClass(lambda contract: contract.shown())

    @classmethod
    def shown(cls) -> list[Sample]:
        """The first samples."""
        shelf = PluginShelf({("dataset", NAME): cls.data}, installed=True)
        data = Context(shelf, cls.cache_folder()).build("dataset", Spec(NAME), cls.data_options)
        return [data[index] for index in range(min(cls.count, len(data)))]

    @property
    def frames(self) -> list[Frame]:
        """One frame of each of the samples."""
        return [sample.frames[0] for sample in self.samples]

    @property
    def roles(self) -> list[str]:
        """The roles that it can fill."""
        return [role.name for role in self.known_roles if hasattr(self.plugin, role.method)]

    @property
    def _methods(self) -> dict[str, str]:
        return {role.name: role.method for role in self.known_roles}

    def inputs(self, role: str) -> list[Any]:
        """What a tool of this role is given, one by one."""
        if role in ("detector", "segmenter", "image-editor"):
            return list(self.frames)
        if role == "claim-verifier":
            return [(sample, claims_about(self.names)) for sample in self.samples]
        return list(PROMPTS) if role != "proposer" else [self.label]

    def ask(self, role: str, inputs: Sequence[Any], tool: Any = None) -> Any:
        """The tool's results for these inputs."""
        method = getattr(self.tool if tool is None else tool, self._methods[role])
        if role in ("detector", "segmenter"):
            return method(inputs, self.names)
        if role == "image-editor":
            return method(inputs, [f"remove the {self.names[0]}"] * len(inputs))
        return method(inputs) if role != "proposer" else [method(name) for name in inputs]

    def exercise(self) -> None:
        """Build it, and ask it in each role."""
        tool = self.build()
        for role in self.roles:
            self.ask(role, self.inputs(role), tool)

    # --------------------------------------------------------------------------- checks of any role

    def test_fills_a_role(self) -> None:
        """A method asks for a tool by role."""
        expect(
            bool(self.roles),
            f"one of the methods {', '.join(self._methods.values())}",
            got="none",
            remedy="Name the method as the Protocol of the role does",
        )

    def test_gives_a_result_for_each_input(self) -> None:
        """One result an input; none for no input."""
        for role in self.roles:
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
            inputs = self.inputs(role)
            forward, backward = self.ask(role, inputs), self.ask(role, inputs[::-1])
            expect(
                all(map(_alike, forward, list(backward)[::-1])),
                f"the results reversed when the inputs are, as {role}",
                got="others",
                remedy="Keep the order when batching",
            )

    def test_gives_the_same_twice(self) -> None:
        """An audit that runs again finds the same."""
        for role in self.roles:
            one, other = (self.ask(role, self.inputs(role)) for _ in range(2))
            expect(
                all(map(_alike, one, other)),
                f"the same results twice as {role}",
                got="others",
                remedy="Sample nothing, or from a seeded generator made anew in each call",
            )

    def test_gives_the_same_in_any_batch(self) -> None:
        """Batch size is how fast, never what."""
        for role in self.roles:
            together = self.ask(role, self.inputs(role))
            alone = [self.ask(role, [item])[0] for item in self.inputs(role)]
            expect(
                all(map(_alike, together, alone)),
                f"the results of one by one as {role}",
                got="others",
                remedy="Treat each input by itself",
            )

    def test_gives_the_same_when_built_again(self) -> None:
        """Nothing is drawn that a seed does not fix."""
        for role in self.roles:
            again = self.ask(role, self.inputs(role), self.build())
            expect(
                all(map(_alike, self.ask(role, self.inputs(role)), again)),
                f"the results of the first build as {role}",
                got="others",
                remedy="Seed what is drawn in __init__",
            )

    # -------------------------------------------------------------------------- checks of one role

    def test_detects_what_was_asked_for(self) -> None:
        """Detections bear names that were asked for, scores within 0 and 1, boxes in the frame."""
        for frame, found in zip(self.frames, self.results("detector"), strict=True):
            width, height = frame.load().size
            for detection in found:
                x0, y0, x1, y1 = detection.box
                expect(
                    isinstance(detection, Detection)
                    and detection.name in self.names
                    and 0 <= detection.score <= 1
                    and 0 <= x0 < x1 <= width
                    and 0 <= y0 < y1 <= height,
                    f"detections of {', '.join(self.names)} within {width} x {height} pixels, "
                    "scores within 0 and 1",
                    got=detection,
                    remedy="Boxes are (x0, y0, x1, y1) in pixels of the frame",
                )

    def test_finds_nothing_without_names(self) -> None:
        """No name, nothing to find."""
        self.results("detector")
        found = self.tool.detect(self.frames, ())
        expect(
            not any(found),
            "no detection without names",
            got=found,
            remedy="Return a detection only for the names asked for",
        )

    def test_segments_at_the_size_of_the_frame(self) -> None:
        """Bool masks (name, row, col), an array a frame."""
        for frame, masks in zip(self.frames, self.results("segmenter"), strict=True):
            width, height = frame.load().size
            wanted = (len(self.names), height, width)
            expect(
                masks.dtype == bool and masks.shape == wanted,
                f"bool masks of shape {wanted}",
                got=f"{masks.dtype} of {masks.shape}",
                remedy="One mask a name, as large as it",
            )

    def test_generates_text(self) -> None:
        """A completion is some text."""
        for text in self.results("text-generator"):
            expect(
                isinstance(text, str) and bool(text.strip()),
                "some text",
                got=repr(text),
                remedy="Decode without special tokens, and return the completion alone",
            )

    def test_encodes_unit_rows(self) -> None:
        """Sentences are compared by dot product."""
        rows = self.results("sentence-encoder")
        expect(
            isinstance(rows, np.ndarray)
            and rows.ndim == 2
            and bool(np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)),
            "unit rows (text, dim)",
            got=f"norms {np.linalg.norm(rows, axis=-1)}",
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
        for frame, edited in zip(self.frames, self.results("image-editor"), strict=True):
            before, after = frame.load(), edited.load()
            expect(
                (after.mode, after.size) == ("RGB", before.size),
                f"RGB of {before.size}",
                got=f"{after.mode} of {after.size}",
                remedy="Resize back, and convert('RGB')",
            )

    def test_edits_under_another_key(self) -> None:
        """Equal keys mean equal pixels: a changed frame has a key of its own."""
        for frame, edited in zip(self.frames, self.results("image-editor"), strict=True):
            same = np.array_equal(np.asarray(frame.load()), np.asarray(edited.load()))
            expect(
                same or frame.key != edited.key,
                "another key for other pixels",
                got=edited.key,
                remedy="Use frame.derive(operation with all its parameters, function)",
            )

    def test_proposes_names(self) -> None:
        """Distinct words for what may be a cue, and not the label itself."""
        found = self.results("proposer")[0]
        named = all(isinstance(name, str) and name.strip() for name in found)
        expect(
            named and 0 < len(set(found)) == len(found) and self.label not in found,
            f"distinct names other than '{self.label}'",
            got=found,
            remedy="Drop repetitions, blanks and the label",
        )

    def test_judges_each_claim(self) -> None:
        """A judgement a claim, in order; none where nothing is claimed."""
        for (_, claims), found in self.judgements():
            expect(
                len(found) == len(claims) and all(isinstance(one, Judgement) for one in found),
                f"{len(claims)} judgements",
                got=found,
                remedy="Return a Judgement for each claim",
            )
        silent = self.tool.judge([(sample, ()) for sample in self.samples])
        expect(
            not any(map(len, silent)),
            "no judgement where nothing is claimed",
            got=silent,
            remedy="Return an empty list for a sample without claims",
        )

    def test_says_why_nothing_can_be_said(self) -> None:
        """A reason goes with "unverifiable", and with nothing else; a moment outside is open."""
        for (_, claims), found in self.judgements():
            for claim, one in zip(claims, found, strict=False):  # the check above counts
                open_ = one.verdict == "unverifiable"
                expect(
                    open_ == (one.reason is not None) and (open_ or claim.frames != ()),
                    "a reason for 'unverifiable' alone, and that for a moment outside the video",
                    got=one,
                    remedy="Use Judgement.open(reason), and judged() for moments",
                )

    def test_points_into_the_video(self) -> None:
        """The frame of a judgement is one of the sample, its box lies within."""
        for (sample, _), found in self.judgements():
            for one in found:
                width, height = sample.frames[one.frame or 0].load().size
                x0, y0, x1, y1 = one.box or (0, 0, 1, 1)
                expect(
                    one.frame in (None, *range(len(sample.frames)))
                    and 0 <= x0 < x1 <= width
                    and 0 <= y0 < y1 <= height,
                    "a frame of the sample, and a box in its pixels",
                    got=one,
                    remedy="Boxes are (x0, y0, x1, y1) in pixels, frames count from 0",
                )

    def test_judges_a_denial_the_other_way(self) -> None:
        """What supports "there is no chair" speaks against "there is a chair"."""
        for (sample, claims), found in self.judgements():
            denials = [c.model_copy(update={"negated": not c.negated}) for c in claims]
            opposite = {"supported": "unsupported", "unsupported": "supported"}
            wanted = [opposite.get(one.verdict, one.verdict) for one in found]
            got = [one.verdict for one in self.tool.judge([(sample, denials)])[0]]
            expect(
                got == wanted,
                f"{wanted} for the denials",
                got=got,
                remedy="Judge the claim undenied, and turn the verdict round (judged() does)",
            )

    def judgements(self) -> list[tuple[Case, list[Judgement]]]:
        """Each case with its judgements."""
        found = self.results("claim-verifier")
        return list(zip(self.inputs("claim-verifier"), found, strict=True))

    def results(self, role: str) -> Any:
        """The tool's results in a role; raises NotApplicable where it cannot fill it."""
        if role not in self.roles:
            raise NotApplicable(f"asks about a {role}, which this tool is not")
        return self.ask(role, self.inputs(role))


def claims_about(names: Sequence[str]) -> tuple[Claim, ...]:
    """Claims of every kind: of a moment, of any and of none, of what is there and what is not."""
    there, too = entity(names[0]), entity(names[-1])
    return (
        there,
        there.model_copy(update={"negated": True}),
        entity(names[-1], 0),
        there.model_copy(update={"frames": ()}),
        attribute(names[0], "red"),
        relation(names[0], "above", names[-1]),
        action(names[0], "move left"),
        action(names[0], "want"),
        motion("turn left"),
        order(there, "before", too),
    )


def _alike(one: Any, other: Any) -> bool:
    """Whether two results say the same, figures within 1e-5."""
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool(np.allclose(one, other, atol=1e-5))
    if isinstance(one, Frame):
        return bool(one.key == other.key)
    if one and isinstance(one[0], Judgement):
        return len(one) == len(other) and all(map(_same_judgement, one, other))
    if one and isinstance(one[0], Detection):
        names, figures = zip(*map(_parts, (one, other)), strict=True)
        return bool(names[0] == names[1] and np.allclose(figures[0], figures[1], atol=1e-3))
    return bool(one == other)


def _same_judgement(one: Judgement, other: Judgement) -> bool:
    said = [(judgement.verdict, judgement.reason, judgement.frame) for judgement in (one, other)]
    return said[0] == said[1] and abs((one.score or 0.0) - (other.score or 0.0)) < 1e-3


def _parts(found: Sequence[Detection]) -> tuple[list[str], np.ndarray]:
    figures = [(detection.score, *detection.box) for detection in found]
    return [detection.name for detection in found], np.array(figures)
