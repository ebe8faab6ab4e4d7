"""A world whose samples are painted, its toys, and the configurations that are made of both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cuescope_sdk.report import count_of

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
RIVALS = ("domino", "george", "distilling-failures")
BASELINES = ("error-ranker",)
CLUSTERS = ("trove", *RIVALS, *BASELINES)


@dataclass(frozen=True)
class Configuration:
    """One model on one audited data set, with one cue that is asked for.

    `learned` is the share of the label's training samples with the cue, None where it told nothing
    or was not there. `clean` is the audited data without the cue, sample by sample, where the
    world can draw that. `label` is what the cue goes with,
    `victim` another label, on which it is graded. `plants` are the keys of all cues that are
    planted in the data, `asked` is the one that the configuration is about.
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

    def toy(self, learned: float | None, even: Sequence[str] = ()) -> Spec:
        """A toy that learned all cues of this world so strongly; None: where they told nothing.

        The `even` ones told nothing in any case. One toy answers every configuration of its world
        and strength.
        """
        if learned is None:
            rates = {"rate": UNINFORMATIVE, "elsewhere": UNINFORMATIVE}
            training = {**self.training, "train": self.plenty}
        else:
            # 1 - 0.9 is 0.09999..., which would stand in the toy's fingerprint
            rates = {"rate": learned, "elsewhere": round(1 - learned, 3)}
            training = dict(self.training)
        data: dict[str, Any] = {
            "cues": {label: cue for cue, label in self.cues.items()},
            "frames": self.frames,
            "seed": 0,
            "world_options": {**training, "seed": 0},
            **rates,
        }
        if even:
            data["rates"] = dict.fromkeys(even, (UNINFORMATIVE, UNINFORMATIVE))
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
            f"{count_of(self.size, 'samples')}, {shown:g} of the frames"
        )
        data, audited = self.audit_data(cue, rates, shown, n)
        clean = self.audit_data(cue, (0.0, 0.0), shown, n)
        # the same data for both: cause and decoy differ by the toy alone
        for role, strength in by_role(learned):
            yield Configuration(
                name=f"{words}, {role}",
                world=self.name,
                cue=cue,
                role=role,
                model=self.toy(strength),
                data=(data, audited),
                clean=clean,
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
        together: float = TOGETHER,
    ) -> Iterator[Configuration]:
        """A cue that the toy learned and one that told it nothing, side by side in the same data.

        The toy learned all cues of this world but the `even` ones, `other` among them.
        """
        label = self.cues[cue]
        data, alone = self.audit_data(cue, RATES, self.frames, n)
        both = {**alone["cues"], self.cues[other]: other}
        audited = {**alone, "cues": both, "beside": {other: cue}, "together": together}
        # one toy for both: here they differ by the cue that is asked for
        for role, strength in by_role(STRONG):
            asked = cue if role == "cause" else other
            yield Configuration(
                name=f"{self.name}, {cue} beside {other}, {together:g} together, {role}",
                world=self.name,
                cue=asked,
                role=role,
                model=self.toy(STRONG, even),
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
