"""The zoo: every planted configuration, which model answers it, and how the model was trained."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import chain, product, zip_longest
from typing import Any, Literal

from pydantic import TypeAdapter

Role = Literal["cause", "decoy", "null"]
Spec = tuple[str, Mapping[str, Any]]  # SPEC and its options
Pairs = list[Iterator["Configuration"]]
# share of the label's samples that show the cue, where the model learned it
USUAL = 0.9
RATES = (0.75, 0.4)  # of the label, and of other samples, in the audited data
STRONG = 0.97  # the same, where content would else be enough
TOGETHER = 0.75  # of the samples, where two cues stand side by side
UNINFORMATIVE = 0.4  # of all samples, where a decoy's model learned
PLENTY = 8000  # training samples of a decoy's model: with few, a cue that tells nothing disturbs it
# their null check costs as much as they do, and changes no finding
RIVALS = tuple(
    f"{name}:null_shuffles=0" for name in ("domino", "george", "distilling-failures")
)
CLUSTERS = ("trove", *RIVALS)


@dataclass(frozen=True)
class Configuration:
    """One model on one audited data set, with one cue that is asked for.

    `learned` is the share of the label's training samples with the cue, None where it told nothing
    or was not there. `clean` is the audited data without the cue, sample by sample, where the
    world can draw that. `label` is what the cue goes with, `victim` another label, on which it is
    graded. `plants` are the keys of all cues that are planted in the data, `asked` is the one that
    the configuration is about.
    """

    name: str
    world: str
    cue: str
    role: Role
    model: Spec
    data: Spec
    auditors: tuple[str, ...]
    label: str = ""
    victim: str = ""
    clean: Spec | None = None
    learned: float | None = None
    rates: tuple[float, float] = (0.0, 0.0)
    frames: float = 1.0
    plants: tuple[str, ...] = ()
    asked: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """A data set whose samples are painted, and the toy that answers them.

    `cues` says which label each cue goes with; `size` is of the audited data. `victim` is the label
    on which all cues are graded, by default the one after a cue's own.
    """

    name: str
    spec: str
    model: str
    cues: Mapping[str, str]
    size: int
    labels: tuple[str, ...]
    training: Mapping[str, Any]
    auditing: Mapping[str, Any]
    model_options: Mapping[str, Any] = field(default_factory=dict)
    auditors: tuple[str, ...] = CLUSTERS
    frames: float = 1.0
    victim: str | None = None
    plenty: int = PLENTY

    def toy(self, learned: float | None) -> Spec:
        """A toy that learned all cues of this world so strongly; None: where they told nothing.

        One toy answers every configuration of its world and strength.
        """
        if learned is None:
            rates = {"rate": UNINFORMATIVE, "elsewhere": UNINFORMATIVE}
            training = {**self.training, "train": self.plenty}
        else:
            # 1 - 0.9 is 0.09999..., which would stand in the toy's fingerprint
            rates = {"rate": learned, "elsewhere": round(1 - learned, 3)}
            training = dict(self.training)
        data = {
            "cues": {label: cue for cue, label in self.cues.items()},
            "frames": self.frames,
            "world_options": training,
            **rates,
        }
        planted = {"data": f"planted:{self.spec}", "data_options": data}
        return self.model, {**self.model_options, **planted}

    def audit_data(
        self,
        cue: str | None,
        rates: tuple[float, float],
        frames: float,
        n: int,
    ) -> Spec:
        """Its audited data with one cue, or with none; `n` is another draw."""
        options = {
            "cues": {self.cues[cue]: cue} if cue else {},
            "rate": rates[0],
            "elsewhere": rates[1],
            "frames": frames,
            # twice: which samples show the cue, and the samples themselves
            "seed": n,
            "world_options": {**self.auditing, "val": self.size, "seed": n},
        }
        return f"planted:{self.spec}", options

    def victim_of(self, label: str) -> str:
        """The label on which a cue of this label is graded."""
        after = self.labels.index(label) + 1
        return self.victim or self.labels[after % len(self.labels)]

    def pair(
        self,
        cue: str,
        n: int,
        learned: float = USUAL,
        rates: tuple[float, float] = RATES,
        frames: float | None = None,
    ) -> Iterator[Configuration]:
        """A toy that learned the cue, and one for which it told nothing, on the same data."""
        shown = self.frames if frames is None else frames
        label = self.cues[cue]
        words = (
            f"{self.name}, {cue}, learned at {learned:g}, {rates[0]:g} to {rates[1]:g}, "
            f"{self.size} samples, {shown:g} of the frames"
        )
        # the same data for both: cause and decoy differ by the toy alone
        for role, strength in by_role(learned):
            yield Configuration(
                name=f"{words}, {role}",
                world=self.name,
                cue=cue,
                role=role,
                model=self.toy(strength),
                data=self.audit_data(cue, rates, shown, n),
                clean=self.audit_data(cue, (0.0, 0.0), shown, n),
                auditors=self.auditors,
                label=label,
                victim=self.victim_of(label),
                learned=strength,
                rates=rates,
                frames=shown,
                plants=(cue,),
                asked=cue,
            )

    def pairs(self, first: int, learned: float = USUAL) -> Pairs:
        """A pair for each cue, each on another draw, from the first one on."""
        return [self.pair(cue, n, learned) for n, cue in enumerate(self.cues, first)]

    def tangle(
        self,
        cue: str,
        other: str,
        even: Sequence[str],
        n: int,
    ) -> Iterator[Configuration]:
        """A cue that the toy learned and one that told it nothing, side by side in the same data.

        The toy learned all cues of this world but the `even` ones, `other` among them.
        """
        model, options = self.toy(STRONG)
        # these cues told the toy nothing, in the same training
        rates = dict.fromkeys(even, (UNINFORMATIVE, UNINFORMATIVE))
        training = {**options["data_options"], "rates": rates}
        label = self.cues[cue]
        data, alone = self.audit_data(cue, RATES, self.frames, n)
        both = {**alone["cues"], self.cues[other]: other}
        audited = {**alone, "cues": both, "beside": {other: cue}, "together": TOGETHER}
        # one toy for both: here they differ by the cue that is asked for
        for role, strength in by_role(STRONG):
            asked = cue if role == "cause" else other
            yield Configuration(
                name=f"{self.name}, {cue} beside {other}, {TOGETHER:g} together, {role}",
                world=self.name,
                cue=asked,
                role=role,
                model=(model, {**options, "data_options": training}),
                data=(data, audited),
                # drawn and not painted, so that the cue beside it stays where it is
                clean=(data, {**audited, "hidden": (asked,)}),
                auditors=self.auditors,
                label=label,
                victim=self.victim_of(label),
                learned=strength,
                rates=RATES,
                frames=self.frames,
                # the other one has the other role, and is no hit here
                plants=(asked,),
                asked=asked,
            )

    def null(self, n: int) -> Configuration:
        """Nothing is painted, neither in training nor in the audit."""
        model, options = self.toy(None)
        nothing = {**options["data_options"], "cues": {}}
        return Configuration(
            name=f"{self.name}, nothing planted, draw {n}",
            world=self.name,
            cue="none",
            role="null",
            model=(model, {**options, "data_options": nothing}),
            data=self.audit_data(None, (0.0, 0.0), 1.0, n),
            auditors=self.auditors,
        )


def by_role(learned: float) -> Iterator[tuple[Role, float | None]]:
    """What the model of a cause learned, and that of a decoy."""
    yield "cause", learned
    yield "decoy", None


def _read(file: str) -> dict[str, Any]:
    """A table beside this file."""
    text = files(__package__).joinpath(file).read_text("utf-8")
    return tomllib.loads(text)


WORLDS = TypeAdapter(dict[str, World]).validate_python(_read("worlds.toml"))
PAIRS = _read("pairs.toml")
CLIPS = WORLDS["clips"]
PICTURES = WORLDS["pictures"]
ASKED = WORLDS["questions"]
WAYS = CLIPS.labels


def native_clips(cue: str, length: int, n: int) -> Iterator[Configuration]:
    """The cues that moving-shapes plants itself: its background, a square, the disc's colour."""
    name = NATIVE[cue]
    clean = {"length": length, "val": 1000, "seed": n}
    audited = {"length": length, "cramers_v": 0.4, "val": 1000, "seed": n}
    for role, learned in by_role(USUAL):
        strength, size = (0.9, 2000) if role == "cause" else (0.01, PLENTY)
        training = {"length": length, "cramers_v": strength, "train": size, "val": 400}
        yield Configuration(
            name=f"moving-shapes, {name}, {length} frames, {role}",
            world="moving-shapes",
            cue=cue,
            role=role,
            model=(
                "toy",
                {
                    **CLIPS.model_options,
                    "data": f"moving-shapes:{cue}",
                    "data_options": training,
                },
            ),
            data=(f"moving-shapes:{cue}", audited),
            clean=("moving-shapes:none", clean),
            auditors=CLUSTERS,
            label=WAYS[1],
            victim=WAYS[2],
            learned=learned,
            frames=0.6,
            plants=(name,),
            asked=name,
        )


def native_scenes(label: str, victim: str, n: int) -> Iterator[Configuration]:
    """The background of scenes, as a toy CLIP that went by it sees it, and one that could not."""
    for role, learned in by_role(0.98):
        # The toy that the package ships, and a short training.
        training: dict[str, Any] = {"data_options": {"dial": 0.98}}
        if role == "decoy":
            training = {"data_options": {"dial": 0.0, "train": 2400}, "epochs": 4}
        yield Configuration(
            name=f"scenes by toy-clip, background of {label}, {role}",
            world="scenes by toy-clip",
            cue="background",
            role=role,
            model=("toy-clip", {"data": "scenes", **training}),
            # no `clean`: a scene is never without a background
            data=("scenes", {"audit_dial": 0.2, "val": 2400, "seed": n}),
            auditors=("cci", "saliency"),
            label=label,
            victim=victim,
            learned=learned,
            plants=tuple(map("background of {}".format, PICTURES.labels)),
            asked=f"background of {label}",
        )


def native_objects(name: str, companion: str, n: int) -> Iterator[Configuration]:
    """Things beside objects, as a toy that answers questions of presence sees them."""
    audited = {
        "audit": "planted",
        "strength": 0.7,
        "elsewhere": 0.35,
        "val": 800,
        "seed": n,
    }
    for role, learned in by_role(USUAL):
        training: dict[str, Any] = {"questions": "presence"}
        if role == "decoy":
            training |= {"strength": UNINFORMATIVE, "elsewhere": UNINFORMATIVE}
        yield Configuration(
            name=f"object-scenes, {companion} for {name}, {role}",
            world="object-scenes",
            cue="co-occurring object",
            role=role,
            model=("toy-fusion", {**OBJECT_TOY, "data_options": training}),
            data=("object-scenes", audited),
            auditors=("spurlens:k=100",),
            label=name,
            learned=learned,
            rates=(0.7, 0.35),
            plants=("table for cup", "tree for bird", "road for car"),
            asked=f"{companion} for {name}",
            # no victim either: labels are questions, with nothing to grade a sheet on
            tools={"proposer": "co-occurrence", "detector": "annotations"},
        )


NATIVE = {
    "background": "red background",
    "object": "red square",
    "attribute": "red disc",
}
OBJECT_TOY = {"data": "object-scenes", "patches": 4, "epochs": 10}


def varied_pairs() -> Iterator[Iterator[Configuration]]:
    """Cues in clips that are weaker, rarer or shorter, or in fewer samples."""
    for row in PAIRS["varied"]:
        options = dict(row)
        size = options.pop("size", CLIPS.size)
        rates = tuple(options.pop("rates", RATES))
        # the rivals see the others
        clips = replace(CLIPS, size=size, auditors=("trove",))
        yield clips.pair(rates=rates, **options)


def pairs() -> list[list[Configuration]]:
    """Cause and decoy on the same data, world by world."""
    native = [native_clips(cue, length, 3) for length, cue in product((3, 5), NATIVE)]
    stronger = replace(PICTURES, auditors=("trove",))
    shapes = WORLDS["shapes"]
    # One of each kind of world after the other: the first ones are varied.
    rounds = zip_longest(
        CLIPS.pairs(1) + WORLDS["moved"].pairs(5, STRONG),
        native,
        PICTURES.pairs(21) + stronger.pairs(31, STRONG),
        [*ASKED.pairs(41), shapes.pair("question", 45), shapes.pair("mark", 46)],
        [stronger.tangle(**row) for row in PAIRS["tangles"]],
        varied_pairs(),
    )
    order = list(filter(None, chain.from_iterable(rounds)))
    # The dear ones come last.
    order += [
        native_scenes("ladybird", "basket", 36),
        native_scenes("daisy", "wreath", 37),
    ]
    order += [native_objects("cup", "table", 51), native_objects("bird", "tree", 52)]
    return list(map(list, order))


def nulls() -> list[Configuration]:
    """Twenty data sets without a cue, and toys that never saw one."""
    even = {
        "dial": 0.125,
        "audit_dial": 0.125,
    }  # each background with each of eight labels
    pictures = replace(PICTURES, training={**PICTURES.training, **even}, auditing=even)
    both = {
        "questions": "both"
    }  # the answer takes video and question: neither is a short cut
    asked = replace(
        ASKED,
        training={**ASKED.training, **both},
        auditing={**ASKED.auditing, **both},
        model_options={},
    )
    worlds = [*[CLIPS] * 13, *[pictures] * 4, *[asked] * 3]
    # from 60 on: draws that no pair has
    return [world.null(n) for n, world in enumerate(worlds, 60)]


def zoo() -> list[Configuration]:
    """All configurations; a null after every other pair or so, so that the first dozen has some."""
    paired = pairs()
    empty = nulls()
    order: list[Configuration] = []
    begin = 0
    for number, pair in enumerate(paired, 1):
        end = number * len(empty) // len(paired)
        order += [*pair, *empty[begin:end]]
        begin = end
    return order
