"""From a request to built plugins: data, method, tools, verifiers, and the model last."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any

from cuescope.capabilities import ROLES, Capabilities, HasGroups, Model, Requirements, ToolRole
from cuescope.conclusions import PluginStamp
from cuescope.context import Context
from cuescope.errors import PluginError, UserError, nearest
from cuescope.registry import Entry, Registry, code_digest
from cuescope.request import Request, Settings
from cuescope.seeds import generator
from cuescope.spec import Spec, validated
from cuescope.types import Sample

KINDS = ("method", "model", "dataset")


@dataclass(frozen=True)
class Built:
    """A plugin, and how it was asked for."""

    plugin: Any
    spec: str
    entry: Entry

    @property
    def stamp(self) -> PluginStamp:
        """What a report keeps of it; its facts are those of now, for some learn from answers."""
        options = getattr(self.plugin, "options", None)
        return PluginStamp(
            spec=self.spec,
            options=options.model_dump(mode="json") if options is not None else {},
            dist=self.entry.dist,
            version=self.entry.version,
            code=code_digest(self.entry.dist, type(self.plugin).__module__),
            fingerprint=getattr(self.plugin, "fingerprint", None),
            facts=dict(getattr(self.plugin, "facts", {})),
        )


@dataclass(frozen=True)
class Parts:
    """Everything that a request names, built."""

    context: Context
    data: Built
    method: Built
    tools: Mapping[str, Built]
    verifiers: tuple[Built, ...]
    executor: Built | None
    model: Built


def build_all(request: Request, context: Context, planning: bool = False) -> Parts:
    """Build cheap things first: a mistake is told before weights load."""
    check_capabilities(request, context)
    context = settled(request, context, planning)
    roles = tool_roles(request, context.registry)
    data = build(context, "dataset", request.data, request.data_options)
    context = context.for_dataset(data.plugin)  # before the model: it may need the labels
    method = build(context, "method", request.method, request.method_options)
    least, labels = method.plugin.requires.labels, data.plugin.labels
    if len(labels) < least:
        raise UserError(
            f"{request.method} on {request.data}",
            expected=f"a data set with at least {least} label{'s' * (least > 1)}",
            got=", ".join(labels) or "none",
        )
    parts = Parts(
        context=context,
        data=data,
        method=method,
        tools=build_tools(request, context, roles),
        verifiers=tuple(build_verifier(context, name) for name in request.verify_with),
        executor=build(context, "executor", request.executor) if request.executor else None,
        model=build(context, "model", request.model, request.model_options),  # last: the costliest
    )
    # a mitigated model has less to look at than its class
    if missing := _missing(method.plugin.requires, parts.model.plugin.capabilities):
        wanted = f"a model with {' and '.join(missing)}"
        raise UserError(f"{request.method} cannot audit this {request.model}", expected=wanted)
    if request.repeats > 1 and not getattr(parts.model.plugin, "random_answers", False):
        raise UserError(
            f"--repeats {request.repeats}",
            expected="a model whose answers are drawn by chance",
            got=f"{request.model}, which always gives the same answer",
            remedy="Leave --repeats out, or ask a text model at a temperature above 0",
        )
    return parts


def settled(request: Request, context: Context, planning: bool = False) -> Context:
    """The context of this request, with its settings."""
    names = ("seed", "device", "dtype", "batch_size")
    given = {name: getattr(request, name) for name in names}
    # a counter of its own: a matrix runs many
    return replace(context, **given, planning=planning, tool_calls=Counter())


def build(context: Context, kind: str, text: str, options: Any = None) -> Built:
    """A plugin by SPEC."""
    spec = Spec.parse(text)
    plugin = context.build(kind, spec, options)
    return Built(plugin, text, context.registry.find(kind, spec.name))


def requirements(request: Request, registry: Registry) -> list[Requirements]:
    """Those of the method, and of the methods that verify too."""
    specs = (request.method, *request.verify_with)
    entries = (registry.find("method", Spec.parse(spec).name) for spec in specs)
    return [registry.load(entry).requires for entry in entries]


def tool_roles(request: Request, registry: Registry) -> dict[str, ToolRole]:
    """The standard roles of tools, and those that the request's methods define, by name."""
    own = (role for needs in requirements(request, registry) for role in needs.roles)
    return ROLES | {role.name: role for role in own}


def installed_that(fit: Callable[[Any], bool], kind: str, registry: Registry) -> list[str]:
    """The names of the installed plugins of a kind whose class fits; a broken one is no advice."""
    whole = (entry for entry in registry.of_kind(kind) if registry.check(entry) is None)
    return [entry.name for entry in whole if fit(registry.load(entry))]


def installed_tools(role: ToolRole, registry: Registry) -> list[str]:
    """The names of the installed tools that fill a role."""
    return installed_that(lambda tool: hasattr(tool, role.method), "tool", registry)


def build_tools(
    request: Request, context: Context, roles: Mapping[str, ToolRole]
) -> dict[str, Built]:
    """The tools of a request by role; raises UserError for options of a role that has none."""
    for role in request.tool_options.keys() - request.tools.keys():
        remedy = nearest(role, request.tools) or f"Add --tool {role}=SPEC"
        raise UserError(f"-T {role}: no tool has this role here", remedy=remedy)
    options = request.tool_options
    return {
        name: build_tool(context, find_role(name, roles), spec, options.get(name))
        for name, spec in request.tools.items()
    }


def find_role(name: str, roles: Mapping[str, ToolRole]) -> ToolRole:
    """The role of this name; raises UserError with the nearest one."""
    if name not in roles:
        raise UserError(
            f"no tool role '{name}'",
            expected=f"one of {', '.join(roles)}",
            remedy=nearest(name, roles),
        )
    return roles[name]


def build_tool(context: Context, role: ToolRole, text: str, options: Any = None) -> Built:
    """A tool for a role; raises UserError where it cannot fill it."""
    built = build(context, "tool", text, options)
    if not isinstance(built.plugin, role.protocol):
        raise UserError(f"tool {text} is no {role.name}", expected=f"one with {role.method}()")
    return built


def build_verifier(context: Context, name: str) -> Built:
    """A method of which only `verify` is used."""
    built = build(context, "method", name)
    if not hasattr(built.plugin, "verify"):
        raise UserError(f"--verify-with {name}", expected="a method with verify()", got="none")
    return built


def rebuild_model(request: Request, context: Context) -> Model:
    """The request's model, built anew: what an executor's workers call."""
    context = settled(request, context)
    data = context.build("dataset", request.data, request.data_options)
    model: Model = context.for_dataset(data).build("model", request.model, request.model_options)
    return model


def chosen_samples(parts: Parts, settings: Settings) -> tuple[Sample, ...]:
    """All samples, or those of a `part`, or a seeded draw of `limit`, in their own order.

    Groups are drawn whole: as many as fit, and one at least. Raises where keys repeat.
    """
    dataset = parts.data.plugin
    indices = _of_part(parts, settings.part) if settings.part else range(len(dataset))
    samples = tuple(dataset[index] for index in _drawn(parts, indices, settings.limit))
    spec = parts.data.spec + (f", part {settings.part}," if settings.part else "")
    if not samples:
        raise UserError(f"data set {spec} is empty", remedy="Check its path, split and groups")
    if len({sample.key for sample in samples}) < len(samples):  # reports and pictures go by key
        raise PluginError(f"data set {spec} broke its contract", expected="one key a sample")
    return samples


def _of_part(parts: Parts, part: str) -> Sequence[int]:
    """The groups in these of so many equal parts."""
    wanted, _, of = part.partition("/")
    numbers, count = {int(number) for number in wanted.split("+")}, int(of)
    if not all(1 <= number <= count for number in numbers):
        raise UserError(f"part {part}", expected=f"numbers from 1 to {count} before the /")
    groups = _groups(parts, range(len(parts.data.plugin)))
    generator(parts.context.seed, "part").shuffle(groups)
    return sorted(chain.from_iterable(chain(*(groups[n - 1 :: count] for n in numbers))))


def _drawn(parts: Parts, indices: Sequence[int], limit: int | None) -> Sequence[int]:
    if limit is None or limit >= len(indices):
        return indices
    rng, groups = generator(parts.context.seed, "limit"), _groups(parts, indices)
    # the order of the data set: neighbours share files
    if len(groups) == len(indices):
        return sorted(indices[place] for place in rng.choice(len(indices), limit, replace=False))
    rng.shuffle(groups)
    fitting = bisect_right(list(accumulate(map(len, groups))), limit)
    return sorted(chain.from_iterable(groups[: max(1, fitting)]))


def _groups(parts: Parts, indices: Sequence[int]) -> list[list[int]]:
    """The indices by the group of their samples; none is opened where the data set tells it."""
    dataset = parts.data.plugin
    groups: dict[str | int, list[int]] = {}
    grouped = bool(indices) and dataset[indices[0]].group is not None
    tell = dataset.group_of if isinstance(dataset, HasGroups) else lambda i: dataset[i].group
    for index in indices:
        groups.setdefault((tell(index) if grouped else None) or index, []).append(index)
    return list(groups.values())


def check_capabilities(request: Request, context: Context) -> None:
    """Refuse a pair that cannot work before weights load, and name the models that could."""
    registry = context.registry
    method, model, _ = checked_classes(request, context)
    needs: Requirements = method.requires
    if missing := _missing(needs, model.capabilities):
        able = installed_that(lambda m: not _missing(needs, m.capabilities), "model", registry)
        raise UserError(
            f"{request.method} cannot audit {request.model}",
            expected=f"a model with {' and '.join(missing)}",
            remedy=f"Installed models that have it: {', '.join(able) or 'none'}",
        )
    for role in sorted(needs.tools - request.tools.keys()):
        able = installed_tools(find_role(role, tool_roles(request, registry)), registry)
        here = f" (installed: {', '.join(able)})" if able else ""
        raise UserError(f"{request.method} needs a {role}", remedy=f"Add --tool {role}=SPEC{here}")
    used = frozenset[str]().union(*(n.tools | n.may_use for n in requirements(request, registry)))
    for role in sorted(request.tools.keys() & tool_roles(request, registry).keys() - used):
        raise UserError(
            f"{request.method} has no use for a {role}",
            expected=f"{' or '.join(sorted(used))} as --tool" if used else "no --tool",
        )


def checked_classes(request: Request, context: Context) -> list[Any]:
    """The classes of method, model and data; all options are checked, nothing is opened yet."""
    for role, spec in request.tools.items():
        _checked_class("tool", spec, request.tool_options.get(role, {}), context)
    if request.executor:
        _checked_class("executor", request.executor, {}, context)
    return [
        _checked_class(kind, spec, options, context)
        for kind, (spec, options) in zip(KINDS, request.plugins, strict=True)
    ]


def _checked_class(kind: str, text: str, options: Mapping[str, Any], context: Context) -> Any:
    spec = Spec.parse(text)
    entry = context.registry.find(kind, spec.name)
    loaded = context.registry.load(entry)
    valid = validated(entry, loaded, spec, options)
    context.for_kind(kind).check(text, valid, options)
    return loaded


def _missing(needs: Requirements, has: Capabilities) -> list[str]:
    outputs = [f"output '{name}'" for name in sorted(needs.outputs - has.outputs)]
    edits = [f"edit '{name}'" for name in sorted(needs.edits - has.edits)]
    return outputs + edits + [f"open {name}" for name in sorted(needs.exposes - has.exposes)]
