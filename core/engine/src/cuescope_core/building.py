"""From a request to built plugins: data, method, tools, verifiers, and the model last."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from cuescope_core.amounts import count_of
from cuescope_core.capabilities import (
    EMBEDDER,
    ROLES,
    Capabilities,
    Dataset,
    Model,
    Requirements,
    ToolRole,
    require_texts,
)
from cuescope_core.conclusions import PluginStamp, Provenance
from cuescope_core.context import Context, Resolved, SaidOnce, ignore
from cuescope_core.data_parts import draw, select_part
from cuescope_core.digest import digest
from cuescope_core.errors import (
    PlanStopped,
    PluginError,
    UserError,
    nearest,
    with_article,
)
from cuescope_core.registry import Entry, Registry, code_digest
from cuescope_core.request import Request, Settings
from cuescope_core.spec import Spec
from cuescope_core.types import Sample


@dataclass(frozen=True)
class Built:
    """A plugin, and how it was asked for."""

    plugin: Any
    spec: str
    entry: Entry

    @classmethod
    def of(cls, choice: Resolved, context: Context) -> Self:
        """Build what was chosen."""
        return cls(choice.build(context), choice.text, choice.entry)

    @property
    def stamp(self) -> PluginStamp:
        """Stamp for the report; its facts are those of now, for some learn from answers."""
        options = getattr(self.plugin, "options", None)
        # as JSON has them: a report's hash is over them, fresh or read back
        written = {} if options is None else options.model_dump(mode="json")
        require_texts(self.plugin, f"{self.entry.kind} '{self.entry.name}'")
        answers_version = _answers_version_of(self.plugin)
        # digests say which code has answered: an edited plugin is another one, and one that was
        # built again too, unless its authors say which answers it gives
        code = code_digest(
            self.entry.dist,
            type(self.plugin).__module__,
            installed=answers_version is None,
        )
        return PluginStamp(
            spec=self.spec,
            options=written,
            dist=self.entry.dist,
            version=self.entry.version,
            answers_version=answers_version,
            code=code,
            fingerprint=getattr(self.plugin, "fingerprint", None),
            facts=dict(getattr(self.plugin, "facts", {})),
        )


def _answers_version_of(plugin: object) -> int | None:
    version = getattr(plugin, "answers_version", None)
    # a bool is an int, and 0 would read as "none"
    if version is None or (type(version) is int and version > 0):
        return version
    raise PluginError(
        f"{type(plugin).__name__} broke its contract",
        expected="answers_version, a whole number from 1",
        got=repr(version),
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


@dataclass(frozen=True)
class Choices:
    """The classes that a request names, their options checked; nothing is opened yet."""

    # resolved once: building, blaming and stamps use the same class and options (docs/adr/0022)
    method: Resolved
    model: Resolved
    data: Resolved
    tools: Mapping[str, Resolved]
    verifiers: tuple[Resolved, ...]
    executor: Resolved | None

    @classmethod
    def of(cls, request: Request, context: Context) -> Self:
        """By SPEC; raises UserError for the first that cannot be."""
        # each is found before any is built: a typo in the last word costs nothing
        method = context.resolve("method", request.method, request.method_options)
        verifiers = tuple(
            context.resolve("method", name) for name in request.verify_with
        )
        roles = _roles_of((method, *verifiers))
        tools = {}
        for role, spec in request.tools.items():
            # before the tool: which plugins may be one depends on the role
            find_role(role, roles)
            options = request.tool_options.get(role)
            tools[role] = resolve_tool(role, spec, options, context)
        executor = None
        if request.executor:
            executor = context.resolve("executor", request.executor)
        model = context.resolve("model", request.model, request.model_options)
        data = context.resolve("dataset", request.data, request.data_options)
        return cls(method, model, data, tools, verifiers, executor)

    @property
    def roles(self) -> dict[str, ToolRole]:
        """The standard roles of tools, and those that the methods define, by name."""
        return _roles_of((self.method, *self.verifiers))

    @property
    def requirements(self) -> list[Requirements]:
        """Those of the method, and of the methods that verify too."""
        return [method.plugin.requires for method in (self.method, *self.verifiers)]

    def seen(self, capabilities: Capabilities) -> Capabilities:
        """Capabilities of the model, with those of a separate embedder where there is one."""
        if EMBEDDER not in self.tools:
            return capabilities
        from cuescope_core.separate_embedder import with_eye

        return with_eye(capabilities)


def _roles_of(methods: Sequence[Resolved]) -> dict[str, ToolRole]:
    roles = dict(ROLES)
    for method in methods:
        roles |= {role.name: role for role in method.plugin.requires.roles}
    return roles


def choose(request: Request, context: Context) -> Choices:
    """Resolve what a request names; raises UserError for what can be refused at once."""
    choices = Choices.of(request, context)
    check_capabilities(choices, context.registry)
    _check_tool_options(request)
    return choices


def build_all(request: Request, context: Context, planning: bool = False) -> Parts:
    """Build cheap things first: a mistake is told before weights load."""
    choices = choose(request, context)
    context = context_for(request, context, planning)
    data = Built.of(choices.data, context)
    # before the model: it may need the labels
    context = context.for_dataset(data.plugin)
    method = Built.of(choices.method, context)
    _check_labels(method, data)
    roles = choices.roles
    tools = {}
    for name, tool in choices.tools.items():
        tools[name] = _fill_role(find_role(name, roles), tool, context)
    # with the rest, so that a verifier without verify() is told before the model loads
    verifiers = [_build_verifier(verifier, context) for verifier in choices.verifiers]
    executor = Built.of(choices.executor, context) if choices.executor else None
    model = Built.of(choices.model, context)  # last: the costliest
    # a mitigated model has less to look at than its class
    has = choices.seen(model.plugin.capabilities)
    missing = missing_from(method.plugin.requires, has)
    if missing:
        wanted = f"a model with {' and '.join(missing)}"
        raise UserError(
            f"{request.method} cannot audit this {request.model}", expected=wanted
        )
    if request.repeats > 1:
        _check_chance(request, model.plugin)
    return Parts(context, data, method, tools, tuple(verifiers), executor, model)


def _check_labels(method: Built, data: Built) -> None:
    # labels are known only now: the class of a data set does not have them
    least = method.plugin.requires.labels
    labels = data.plugin.labels
    if len(labels) < least:
        raise UserError(
            f"{method.spec} on {data.spec}",
            expected=f"a data set with at least {count_of(least, 'labels')}",
            got=", ".join(labels) or "none",
            remedy="Add samples with another right answer, such as a folder of another class: "
            "errors are grouped by the label that is predicted",
        )


def _check_chance(request: Request, model: Model) -> None:
    if not getattr(model, "random_answers", False):
        raise UserError(
            f"--repeats {request.repeats}",
            expected="a model whose answers are drawn by chance",
            got=f"{request.model}, which always gives the same answer",
            remedy="Leave --repeats out, or ask a text model at a temperature above 0",
        )


def require_openable_data(requests: Sequence[Request], context: Context) -> None:
    """Raise UserError where a data set of these cannot be opened; each is opened once, and closed.

    A path with a typo would else be told in its turn, after hours of audits.
    """
    opened = set[str]()
    for request in requests:
        key = digest(request.data, dict(request.data_options))
        if key not in opened:
            opened.add(key)
            data = context.resolve("dataset", request.data, request.data_options)
            Built.of(data, context_for(request, context))


def require_openable(request: Request, context: Context) -> None:
    """Raise UserError where the data or the model of a request cannot be opened.

    Nothing is said before it but this one line. Weights stay closed.
    """
    planning = context_for(request, context, planning=True)
    with suppress(PlanStopped):
        data = build(planning, "dataset", request.data, request.data_options)
        build(
            planning.for_dataset(data.plugin),
            "model",
            request.model,
            request.model_options,
        )


def context_for(request: Request, context: Context, planning: bool = False) -> Context:
    """The context with the settings of this request."""
    return replace(
        context,
        seed=request.seed,
        device=request.device,
        dtype=request.dtype,
        batch_size=request.batch_size,
        planning=planning,
        # a part is one of all samples, which are counted first
        limit=None if request.part else request.limit,
        # notes are said once an audit, whoever builds the same thing twice
        announce=SaidOnce(context.announce),
        tool_calls=Counter(),  # a counter of its own: a matrix runs many
    )


def build_data_of(
    origin: Provenance, context: Context, spec: str, options: Mapping[str, Any]
) -> Dataset:
    """The data set of a report, of which the same samples are drawn as then."""
    resolved = context.resolve("dataset", spec, options)
    limit = None if origin.part else origin.limit
    data: Dataset = resolved.build(replace(context, seed=origin.seed, limit=limit))
    # an older run digested the files of all samples
    if limit is not None and data.fingerprint != origin.data.fingerprint:
        data = resolved.build(replace(context, limit=None))
    return data


def build(context: Context, kind: str, text: str, options: Any = None) -> Built:
    """A plugin by SPEC."""
    return Built.of(context.resolve(kind, text, options), context)


def find_installed(
    fit: Callable[[Any], bool],
    kind: str,
    registry: Registry,
) -> list[str]:
    """The names of the installed plugins of a kind whose class fits, to advise; no control."""
    # a broken one is no advice
    sound = [entry for entry in registry.of_kind(kind) if registry.check(entry) is None]
    return [entry.name for entry in sound if _is_advice(registry.load(entry), fit)]


def _is_advice(plugin: Any, fit: Callable[[Any], bool]) -> bool:
    return not getattr(plugin, "is_control", False) and fit(plugin)


def find_tools(role: ToolRole, registry: Registry) -> list[str]:
    """The names of the installed tools that fill a role, and of the models that do."""
    names = find_installed(lambda tool: hasattr(tool, role.method), "tool", registry)
    if role.name == EMBEDDER:
        names += find_installed(_embeds, "model", registry)
    return names


def _embeds(model: Any) -> bool:
    return "embedding" in model.capabilities.outputs


def resolve_tool(
    role: str,
    text: str,
    options: Mapping[str, Any] | None,
    context: Context,
) -> Resolved:
    """Resolve the SPEC of a tool; for an embedder it may be a model."""
    kind = kind_of_tool(role, text, context.registry)
    return _not_typed(context).resolve(kind, text, options)


def kind_of_tool(role: str, text: str, registry: Registry) -> str:
    """The kind of plugin that fills a role: a tool, or for an embedder a model."""
    name = Spec.parse(text).name
    tools = [entry.name for entry in registry.of_kind("tool")]
    models = [entry.name for entry in registry.of_kind("model")]
    is_model = role == EMBEDDER and name not in tools and name in models
    return "model" if is_model else "tool"


def _not_typed(context: Context) -> Context:
    """The person typed the audited model, and that is no word on a model that serves as a tool."""
    return replace(context, typed=context.typed - {"model"})


def _check_tool_options(request: Request) -> None:
    """Refuse options of a role that no tool of the request has."""
    # a typo in the role would leave its options without effect
    for name in request.tool_options.keys() - request.tools.keys():
        remedy = nearest(name, request.tools) or f"Add --tool {name}=SPEC"
        raise UserError(f"-O tool.{name}: no tool has this role here", remedy=remedy)


def find_role(name: str, roles: Mapping[str, ToolRole]) -> ToolRole:
    """The role of this name; raises UserError with the nearest one."""
    if name not in roles:
        raise UserError(
            f"no tool role '{name}'",
            expected=f"one of {', '.join(roles)}",
            remedy=nearest(name, roles),
        )
    return roles[name]


def build_tool(
    context: Context,
    role: ToolRole,
    text: str,
    options: Any = None,
) -> Built:
    """A tool for a role; raises UserError where it cannot fill it."""
    return _fill_role(role, context.resolve("tool", text, options), context)


def _fill_role(role: ToolRole, tool: Resolved, context: Context) -> Built:
    built = Built.of(tool, _not_typed(context))
    is_eye = role.name == EMBEDDER and tool.entry.kind == "model"
    fits = isinstance(built.plugin, role.protocol) or (is_eye and _embeds(built.plugin))
    if not fits:
        raise UserError(
            f"tool {tool.text} is no {role.name}", expected=f"one with {role.method}()"
        )
    return built


def _build_verifier(method: Resolved, context: Context) -> Built:
    """A method of which only `verify` is used."""
    built = Built.of(method, context)
    if not hasattr(built.plugin, "verify"):
        raise UserError(
            f"--verify-with {method.text}",
            expected="a method with verify()",
            got="none",
        )
    return built


def rebuild_model(request: Request, context: Context) -> Model:
    """The request's model, built anew: what an executor's workers call."""
    # in a worker: nothing is shared with the process that planned it, which said it all
    context = replace(context_for(request, context), announce=ignore)
    # a model may have learned from the audited data, or read its labels
    data = context.build("dataset", request.data, request.data_options)
    model: Model = context.for_dataset(data).build(
        "model", request.model, request.model_options
    )
    return model


def choose_samples(parts: Parts, settings: Settings) -> tuple[Sample, ...]:
    """All samples, or those of a `part`, or a seeded draw of `limit`, in their own order.

    Groups are drawn whole: as many as fit, and one at least. Raises where keys repeat.
    """
    # whatever goes wrong in there is the data set's
    with parts.context.registry.blaming(parts.data.entry):
        return _chosen(parts, settings)


def _chosen(parts: Parts, settings: Settings) -> tuple[Sample, ...]:
    dataset = parts.data.plugin
    spec = parts.data.spec
    indices: Sequence[int] = range(len(dataset))
    if settings.part:
        spec = f"{spec}, part {settings.part},"
        indices = select_part(dataset, settings.part, parts.context.seed)
    if settings.limit is not None and settings.limit < len(indices):
        # whole groups: ten clips of one video are not ten proofs (docs/statistics.md)
        indices = draw(dataset, indices, settings.limit, parts.context.seed)
    samples = tuple(_sample_at(dataset, index, spec) for index in indices)
    if not samples:
        raise UserError(
            f"data set {spec} is empty", remedy="Check its path, split and groups"
        )
    keys = {sample.key for sample in samples}
    if len(keys) < len(samples):  # reports and pictures go by key
        raise PluginError(
            f"data set {spec} broke its contract", expected="one key a sample"
        )
    return samples


def _sample_at(dataset: Dataset, index: int, spec: str) -> Sample:
    sample: object = dataset[index]
    if isinstance(sample, Sample):
        return sample
    kind = with_article(type(sample).__name__)
    raise PluginError(
        f"data set {spec} broke its contract",
        expected=f"a Sample at index {index}",
        # a forgotten `return`
        got="None" if sample is None else f"{kind} ({sample!r:.60})",
    )


def check_capabilities(choices: Choices, registry: Registry) -> None:
    """Refuse a pair that cannot work before weights load, and name the models that could."""
    method = choices.method
    needs: Requirements = method.plugin.requires
    has = choices.model.plugin.capabilities
    missing = missing_from(needs, choices.seen(has))
    if missing:
        able = find_installed(
            lambda m: not missing_from(needs, m.capabilities), "model", registry
        )
        from cuescope_core.separate_embedder import with_eye

        remedy = f"Installed models that have it: {', '.join(able) or 'none'}"
        if not missing_from(needs, with_eye(has)):
            eyes = ", ".join(find_tools(ROLES[EMBEDDER], registry))
            remedy = (
                f"Add --tool {EMBEDDER}=SPEC (installed: {eyes or 'none'}). {remedy}"
            )
        raise UserError(
            f"{method.text} cannot audit {choices.model.text}",
            expected=f"a model with {' and '.join(missing)}",
            remedy=remedy,
        )
    _check_tools(choices, needs, registry)


def _check_tools(choices: Choices, needs: Requirements, registry: Registry) -> None:
    """Refuse a request that lacks a tool, or has one that no method of it uses."""
    roles = choices.roles
    tools = choices.tools.keys()
    name = choices.method.text
    # sorted: of two that are missing the same one is named each time
    for role in sorted(needs.tools - tools):
        able = find_tools(find_role(role, roles), registry)
        installed = f" (installed: {', '.join(able)})" if able else ""
        raise UserError(
            f"{name} needs a {role}", remedy=f"Add --tool {role}=SPEC{installed}"
        )
    useful: set[str] = set()
    for method_needs in choices.requirements:
        useful |= method_needs.usable_tools
    # a role that nobody knows is refused later, with the nearest name
    for role in sorted(tools & roles.keys() - useful):
        expected = f"{' or '.join(sorted(useful))} as --tool" if useful else "no --tool"
        raise UserError(f"{name} has no use for a {role}", expected=expected)


def refusal(method: Any, has: Capabilities) -> str | None:
    """Why a model that has all that a method requires does not fit it; None where it does."""
    needs: Requirements = method.requires
    asks = needs.outputs or needs.edits
    # most methods change pictures or ask questions of their own: nobody recorded those answers
    if (
        "recorded" in has.exposes
        and asks
        and not getattr(method, "reads_recorded", False)
    ):
        return (
            "the model only repeats what was recorded, and the method asks about changed pictures "
            "or in its own words"
        )
    # a method may refuse models by more than single capabilities can say
    refuses = getattr(method, "refuses", None)
    why = refuses(has) if refuses is not None else None
    return None if why is None else f"the model does not fit: it gives {why}"


def missing_from(needs: Requirements, has: Capabilities) -> list[str]:
    """List what a model lacks, in words."""
    why = has.why_not
    missing = [
        f"output '{name}'{why(name)}" for name in sorted(needs.outputs - has.outputs)
    ]
    missing += [f"edit '{name}'{why(name)}" for name in sorted(needs.edits - has.edits)]
    missing += [f"open {name}" for name in sorted(needs.exposes - has.exposes)]
    return missing
