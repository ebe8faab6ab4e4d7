"""A stored run asked for again: its request, and what a person gives anew."""

import warnings
from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cuescope_core.errors import UserError

if TYPE_CHECKING:
    from cuescope.runner import Runner
    from cuescope_core.conclusions import PluginStamp, Report
    from cuescope_core.registry import Registry
    from cuescope_core.request import Request


@dataclass(frozen=True)
class Rerun:
    """Words about a stored run that is asked again: its model and data anew, and the way.

    `on` is the split of the data to test on, in the place of what the run left. Options of a model
    or data set belong to one that is named here. `allow` is what a run of somebody else may ask
    for. Without a `seed` it is that of the run.
    """

    on: str | None = None
    model: str | None = None
    model_options: Mapping[str, Any] = field(default_factory=dict)
    data: str | None = None
    data_options: Mapping[str, Any] = field(default_factory=dict)
    allow: Sequence[str] = ()
    executor: str | None = None
    device: str = "auto"
    batch_size: Annotated[int, Field(ge=1)] = 64
    seed: Annotated[int, Field(ge=0)] | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of the run's request that it sets; raises UserError for options of nothing."""
        if self.model_options and self.model is None:
            raise UserError("-O model.KEY without --model", remedy="Add --model SPEC")
        if self.data_options and self.data is None:
            raise UserError("-O data.KEY without --data", remedy="Add --data SPEC")
        # where it runs is about this computer, whatever the run had
        way = ("executor", "device", "batch_size")
        changes: dict[str, Any] = {name: getattr(self, name) for name in way}
        if self.seed is not None:
            changes["seed"] = self.seed
        if self.model is not None:
            # both: options of the run's model may be none of this one's
            changes |= {"model": self.model, "model_options": self.model_options}
        if self.data is not None:
            changes |= {"data": self.data, "data_options": self.data_options}
        return changes

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of plugins that it names, and those that no stored run names."""
        kinds = {"executor", "intervention", "mitigator"}
        if self.model is not None:
            kinds.add("model")
        if self.data is not None:
            kinds.add("dataset")
        return frozenset(kinds)


def ask_again(
    runner: "Runner",
    run: Path,
    asked: Rerun,
) -> "tuple[Runner, Request]":
    """Return the request of a stored run, and a runner that lets it ask for no more than it may.

    Raises UserError where the run was made elsewhere and the person has not typed what it is about.
    """
    from cuescope_core.run_location import from_place
    from cuescope_core.runs import asked_in, load_report, require_undamaged, source_of
    from cuescope_core.trust.source import ELSEWHERE

    context = runner.context
    changes = asked.changes
    allowed = frozenset(asked.allow)
    source = source_of(run, allowed)
    if not source.typed_before:
        # a mailed run would else choose which code runs and which host gets a key (docs/adr/0021)
        if asked.model is None or asked.data is None:
            raise UserError(
                f"{run} is {ELSEWHERE}",
                remedy="To ask again, type what it is about: --model SPEC and --data SPEC, with "
                "-O model.KEY=VALUE and -O data.KEY=VALUE for options",
            )
        context.announce(f"{run} is {ELSEWHERE}; what you typed is asked instead")
    report = load_report(run)
    require_undamaged(run)
    context.registry.trust(allowed)
    if source.typed_before:
        _trust_unchanged(report, context.registry)
    stored = request_of(
        run,
        report,
        context.registry,
        asked.kinds,
        is_ours=source.typed_before,
    )
    # of a stranger's run no path is followed elsewhere
    if place := asked_in(run):
        stored = from_place(stored, place, context.registry)
    request = runner.on_objects(stored.model_copy(update=changes))
    # what was typed now is the person's word, all else is the run's
    held = replace(context, source=source, typed=asked.kinds, allowed=allowed)
    return replace(runner, context=held), request


def _trust_unchanged(report: "Report", registry: "Registry") -> None:
    """Let code in files run that a person typed for this run, where it is as it was then."""
    from cuescope_core.registry import IN_FILE
    from cuescope_core.spec import Spec

    for role, stamp in report.provenance.stamps:
        if stamp.dist == IN_FILE:
            name = Spec.parse(stamp.spec).name
            kind = "dataset" if role == "data" else role
            if registry.find(kind, name).version == stamp.version:
                registry.trust([name])


def request_of(
    run: Path,
    report: "Report",
    registry: "Registry",
    anew: AbstractSet[str] = frozenset(),
    *,
    is_ours: bool = True,
) -> "Request":
    """Rebuild the request of a run; raises UserError for one that cannot be asked for again.

    Kinds of plugins that are named `anew` are left open. Of a run that is not `is_ours` no path is
    followed, and no command is advised.
    """
    from cuescope_core.building import kind_of_tool
    from cuescope_core.in_memory import IN_MEMORY
    from cuescope_core.next_commands import Typed
    from cuescope_core.request import make_request
    from cuescope_core.run_under_test import Tested
    from cuescope_core.spec import Spec

    origin = report.provenance
    name = Spec.parse(origin.method.spec).name
    method = registry.load(registry.find("method", name))
    # before its model and data: with these it could not be asked either
    if getattr(method, "started_by", None) is not None:
        remedy = "Take the run that it tested"
        if is_ours:
            tested = Tested.by(method, origin.method.options)
            remedy = (
                f"To test whether its cues are causes: {tested.test_step}. To try a remedy for "
                f"them: {tested.next_step}"
            )
        raise UserError(
            f"this run is one of '{name}', which tests what other runs found",
            expected="a run of a method that finds cues",
            remedy=remedy,
        )
    following = Typed(origin.command)
    for role, stamp in origin.stamps:
        # the object has gone with its process, and nothing names it (docs/adr/0015)
        kind = "dataset" if role == "data" else role
        is_object = stamp.dist == IN_MEMORY or role in following.objects
        if is_object and not (kind in anew or (kind, stamp.spec) in registry.held):
            folder = str(run)
            # who names one of the two on a command line has no object for the other
            remedy = (
                f"Name it too: --{role} SPEC"
                if anew & {"model", "dataset"}
                else f"In Python, which has it: `{following.confirm(folder)}`, "
                f"`{following.mitigate(folder)}`"
            )
            raise UserError(
                f"the {role} of this run was an object in memory",
                expected="plugins by SPEC, which can be built again",
                got=f"'{stamp.spec}'",
                remedy=remedy,
            )
    tools = {
        role: options_of(registry, kind_of_tool(role, stamp.spec, registry), stamp)
        for role, stamp in origin.tools.items()
    }
    return make_request(
        method=origin.method.spec,
        model=origin.model.spec,
        data=origin.data.spec,
        method_options=options_of(registry, "method", origin.method),
        model_options={}
        if "model" in anew
        else options_of(registry, "model", origin.model),
        data_options={}
        if "dataset" in anew
        else options_of(registry, "dataset", origin.data),
        tools={role: stamp.spec for role, stamp in origin.tools.items()},
        tool_options={role: options for role, options in tools.items() if options},
        seed=origin.seed,
        limit=origin.limit,
        part=origin.part,
        # part of the key of every answer: in another dtype all would be asked again
        dtype=origin.dtype,
    )


def require_same_data(report: "Report", runner: "Runner", request: "Request") -> None:
    """Raise UserError where the data of a report cannot be opened, or has changed since."""
    from cuescope_core.building import build_data_of

    stamp = report.provenance.data
    try:
        data = build_data_of(
            report.provenance, runner.context, request.data, request.data_options
        )
    except UserError as error:
        raise UserError(
            f"the data of the run, {request.data}, cannot be opened: {error}",
            remedy="Name where the data lie now: --data SPEC, with -O data.KEY=VALUE for options",
        ) from error
    # the cues of the run were found in other pictures
    if data.fingerprint != stamp.fingerprint:
        raise UserError(
            "the data of the run has changed since the run was made",
            expected=f"{stamp.spec} as it was",
            got="another fingerprint",
            remedy="Audit again, then go on with the new run",
        )


def options_of(registry: "Registry", kind: str, stamp: "PluginStamp") -> dict[str, Any]:
    """The options of a plugin that are not its defaults, without the ARG of its SPEC.

    Those that this version of it has not are left out, with a warning.
    """
    from cuescope_core.printable import printable
    from cuescope_core.spec import Spec

    spec = Spec.parse(stamp.spec)
    kept: dict[str, Any] = {}
    fields = registry.load(registry.find(kind, spec.name)).Options
    for name, value in stamp.options.items():
        field = fields.model_fields.get(name)
        # an older version of the plugin had it
        if field is None:
            told = f"{spec.name} has no option '{name}' any more (the run had {value!r}): left out"
            warnings.warn(printable(told), stacklevel=2)
            continue
        # `validate` would refuse it as given twice
        if name == fields.argument and spec.arg is not None:
            continue
        default = field.get_default(call_default_factory=True)
        # the report is JSON, where tuples and sets are lists
        plain = (
            list(default) if isinstance(default, tuple | set | frozenset) else default
        )
        if value != plain:
            kept[name] = value
    return kept


def beside(run: Path, ending: str) -> Path:
    """The folder beside a run's, with an ending.

    Raises UserError where it is a link, or has one that leads out of it: it may have come with the
    run.
    """
    from cuescope_core.trust.paths import require_own_place

    # `.` has no name that an ending could follow
    home = (run if run.is_dir() else run.parent).resolve()
    place = home.with_name(f"{home.name}-{ending}")
    if place.is_symlink():
        raise UserError(
            f"{place} is a link",
            expected="a folder, or nothing yet",
            remedy="Delete it, or name another place: --out",
        )
    require_own_place(place, place)
    return place
