"""Which methods fit a model and data, by what all of them declare; no weights are opened."""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from cuescope_core import building
from cuescope_core.amounts import count_of
from cuescope_core.building import find_installed, find_tools
from cuescope_core.capabilities import EMBEDDER, ROLES
from cuescope_core.registry import Registry
from cuescope_core.remedies import dists_of, how_to_install, is_own
from cuescope_core.separate_embedder import with_eye
from cuescope_core.spec import Spec, validate
from cuescope_sdk import (
    Capabilities,
    Context,
    DataNeeds,
    PlanStopped,
    Requirements,
    Sample,
    UserError,
)
from cuescope_sdk.data._sufficiency import DataProfile, find_shortages
from cuescope_sdk.models import UnopenableError

MOST = 4000  # samples that are looked at; so many say enough
WORDS: dict[str, dict[str, str]] = tomllib.loads(
    files("cuescope_sdk.choosing").joinpath("words.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class Lack:
    """Something that is missing, how to get it, and how grave it is (see `Shortage`).

    "open" is what the person has yet to choose.
    """

    what: str
    how: str
    gravity: Literal["fatal", "blind", "weak", "open"] = "fatal"


@dataclass(frozen=True)
class Fit:
    """A method: what it finds and needs, whether it is installed, and what is missing."""

    method: str
    finds: str = ""
    needs: str = ""
    installed: bool = False
    lacks: tuple[Lack, ...] = ()
    enough: int = 0  # samples, as its data needs have them
    is_control: bool = False  # it looks for no cue of its own

    @property
    def verdict(self) -> str:
        """Verdict on its use as things are, in a word or two."""
        if not self.installed:
            return "not here"
        graves = {lack.gravity for lack in self.lacks}
        if graves & {"fatal", "blind"}:
            return "no"
        return "weakly" if "weak" in graves else "yes"


@dataclass(frozen=True)
class Question:
    """Question of a person: SPECs of a model and of data with their options, None if not said.

    `tools` are the roles that are filled, `method_options` what is given to methods by name.
    """

    model: str | None = None
    data: str | None = None
    model_options: Mapping[str, Any] | None = None
    data_options: Mapping[str, Any] | None = None
    tools: Collection[str] = ()
    method_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def with_own_data(self, registry: Registry) -> "Question":
        """With the data that the model brings along where no other are named, as a log does."""
        if self.data is not None or self.model is None:
            return self
        spec = Spec.parse(self.model)
        model = registry.load(registry.find("model", spec.name))
        name = getattr(model, "own_data", None)
        if name is None or spec.arg is None:
            return self
        options = registry.load(registry.find("dataset", name)).Options.model_fields
        given = (self.model_options or {}).items()
        shared = {key: value for key, value in given if key in options}
        return replace(self, data=str(Spec(name, spec.arg)), data_options=shared)

    def capabilities(self, context: Context) -> Capabilities | None:
        """Capabilities of the model; those that its class declares, where it cannot be built yet.

        Raises UserError for options that do not fit, and for a model that can never be asked.
        """
        declared = _declaration(self, context.registry)
        if self.model is None or Spec.parse(self.model).arg is None:
            return declared
        try:
            choice = context.resolve("model", self.model, self.model_options or {})
            built: Capabilities = choice.build(context).capabilities
        except UnopenableError:
            raise
        # files that are not here yet do not end the list of methods
        except (UserError, PlanStopped):
            return declared
        return built

    def fits(self, context: Context) -> Iterator[Fit]:
        """Each method of this project or installed here, by name."""
        registry = context.registry
        capabilities = self.capabilities(context)
        if capabilities is not None and EMBEDDER in self.tools:
            capabilities = with_eye(capabilities)
        profile = _profile(self, context)
        entries = {entry.name: entry for entry in registry.of_kind("method")}
        # methods that nobody installed here are named too, with how to get them
        dists = {n: dist for n, dist in dists_of("method").items() if is_own(dist)}
        for name in sorted({*entries, *dists}):
            if name not in entries:
                lack = Lack("not installed", how_to_install(dists[name]))
                yield Fit(name, lacks=(lack,))
            # a method that does not load is one line, and must not end the list
            elif problem := registry.check(entries[name]):
                why = f"it cannot be used: {problem.reason}"
                yield Fit(name, lacks=(Lack(why, problem.remedy),))
            else:
                method = registry.load(entries[name])
                lacks = (
                    *_of_model(method, capabilities, registry),
                    *_of_tools(method.requires, self.tools, registry),
                    *_of_data(name, method, profile, self.tools),
                    *_of_options(method, self.method_options.get(name, ())),
                )
                # a plugin need not declare `finds` and `data_needs`
                finds = getattr(method, "finds", method.title)
                needs: DataNeeds = getattr(method, "data_needs", DataNeeds())
                words = needs_in_words(method)
                is_control = getattr(method, "is_control", False)
                yield Fit(name, finds, words, True, lacks, needs.enough, is_control)


def _of_options(method: Any, given: Collection[str]) -> Iterator[Lack]:
    """Required options that are missing, and the command that fills them in, where there is one."""
    fields = method.Options.model_fields.items()
    required = [name for name, f in fields if f.is_required() and name not in given]
    if required:
        how = " ".join(f"-O {name}=..." for name in required)
        # some methods are started by a command of their own, which gives them these options
        how = getattr(method, "started_by", how)
        yield Lack(f"options of its own: {', '.join(required)}", how, "open")


def needs_in_words(method: Any) -> str:
    """Needs of a method of model, tools and data, in a line."""
    requires: Requirements = method.requires
    needs: DataNeeds = getattr(method, "data_needs", DataNeeds())
    # all of it is missing of a model that can nothing
    wanted = missing_of(requires, Capabilities(outputs=frozenset()))
    of_data = []
    if needs.questions:
        of_data.append("questions with answers")
    if needs.clips:
        of_data.append("clips")
    if needs.choices:
        of_data.append(f"{count_of(needs.choices, 'labels')} or more")
    if needs.enough:
        each = "" if needs.each == "data set" else f" of each {needs.each}"
        of_data.append(f"about {needs.enough} samples{each}")
    if (annotation := needs.annotation) is not None:
        # a tool may stand in for the annotation
        or_tool = f" or a {annotation.tool}" if annotation.tool else ""
        of_data.append(annotation.name + or_tool)
    tools = [f"a {role}" for role in sorted(requires.tools)]
    parts = {"model": wanted, "tools": tools, "data": of_data}
    lines = [f"{part}: {', '.join(words)}" for part, words in parts.items() if words]
    return "; ".join(lines)


# ------------------------------------------------------------------------------- what is missing


def missing_of(requires: Requirements, has: Capabilities) -> list[str]:
    """List what a model lacks for a method, in words."""
    names = [
        *sorted(requires.outputs - has.outputs),
        *sorted(requires.edits - has.edits),
        *sorted(requires.exposes - has.exposes),
    ]
    return [WORDS["needs"].get(name, name) + has.why_not(name) for name in names]


def refusal(method: Any, has: Capabilities) -> str | None:
    """Why a model cannot be audited by a method; None where it can."""
    if missing := missing_of(method.requires, has):
        return f"the model does not give {' and '.join(missing)}"
    return building.refusal(method, has)


def _of_model(
    method: Any,
    has: Capabilities | None,
    registry: Registry,
) -> Iterator[Lack]:
    # without a model in the question nothing of it is missing
    if has is None or (why := refusal(method, has)) is None:
        return
    able = find_installed(
        lambda model: refusal(method, model.capabilities) is None, "model", registry
    )
    how = f"--model SPEC, one of {', '.join(able) or 'none here'}"
    if refusal(method, with_eye(has)) is None:
        eyes = find_tools(ROLES[EMBEDDER], registry)
        how = (
            f"--tool {EMBEDDER}=SPEC, one of {', '.join(eyes) or 'none here'}; or {how}"
        )
    yield Lack(why, how)


def _of_tools(
    requires: Requirements,
    given: Collection[str],
    registry: Registry,
) -> Iterator[Lack]:
    roles = ROLES | {role.name: role for role in requires.roles}
    for name in sorted(requires.tools - set(given)):
        able = find_tools(roles[name], registry)
        # a tool that is here is a choice to make, one that is nowhere ends the matter
        how = f"--tool {name}=SPEC, one of {', '.join(able)}"
        if not able:
            dist = WORDS["brings"].get(name)
            install = how_to_install(dist) if dist else "install such a tool"
            how = f"{install}, then --tool {name}=SPEC"
        yield Lack(f"a {name} must be chosen", how, "open" if able else "fatal")


def _of_data(
    name: str,
    method: Any,
    profile: DataProfile | None,
    tools: Collection[str],
) -> Iterator[Lack]:
    if profile is None:
        return
    needs: DataNeeds = getattr(method, "data_needs", DataNeeds())
    for shortage in find_shortages(needs, profile, tools, name):
        # the line already stands beside the method's name
        what = shortage.problem.removeprefix(f"{name}: ")
        what += f" (expected {shortage.expected}, got {shortage.got})"
        yield Lack(what, shortage.remedy, shortage.gravity)


# ------------------------------------------------------------------------------ what is declared


def _declaration(question: Question, registry: Registry) -> Capabilities | None:
    """Capabilities that the model's class declares; raises UserError for options that misfit."""
    if question.model is None:
        return None
    spec = Spec.parse(question.model)
    entry = registry.find("model", spec.name)
    model = registry.load(entry)
    # a bare name may still lack its ARG
    if spec.arg is not None or question.model_options:
        validate(entry, model, spec, question.model_options or {})
    capabilities: Capabilities = model.capabilities
    return capabilities


def _profile(question: Question, context: Context) -> DataProfile | None:
    """Profile of the data; of large data, of `MOST` samples spread over it."""
    if question.data is None:
        return None
    data = context.build("dataset", question.data, question.data_options)
    # spread evenly: many data sets are sorted by label
    chosen = np.linspace(0, len(data) - 1, min(MOST, len(data))).astype(int).tolist()
    # rounding may hit an index twice
    samples: Sequence[Sample] = [data[index] for index in dict.fromkeys(chosen)]
    return DataProfile.of(samples)
