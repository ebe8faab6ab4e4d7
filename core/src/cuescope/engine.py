"""One audit, start to finish."""

import platform
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pluggy

from cuescope import hookspecs
from cuescope.audit import Audit
from cuescope.capabilities import ROLES, Capabilities, Dataset, Model, Requirements
from cuescope.context import Context
from cuescope.digest import digest
from cuescope.errors import PluginError, UserError, nearest
from cuescope.registry import Registry
from cuescope.request import Request
from cuescope.respond import Responder, Unanswered
from cuescope.seeds import generator
from cuescope.spec import Spec
from cuescope.store import ResponseCache
from cuescope.types import Cost, PluginStamp, Provenance, Report, Sample

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What an audit would cost, as far as it can be known without asking the model.

    `whole` is False where later trials depend on answers that are still to come; `seconds` is
    None for a model that has never been timed here.
    """

    trials: int
    cached: int
    model_calls: int
    seconds: float | None
    whole: bool


@dataclass(frozen=True)
class Built:
    """A plugin with the stamp that a report keeps of it."""

    plugin: Any
    stamp: PluginStamp


class Session:
    """A request with everything built: data, method, tools, and the model last."""

    def __init__(
        self,
        request: Request,
        context: Context,
        cache: ResponseCache,
        observers: Sequence[object] = (),
        *,
        planning: bool = False,
    ) -> None:
        self.started, self._clock = datetime.now(UTC), time.perf_counter()
        self.request, self.cache = request, cache
        context = replace(
            context,
            seed=request.seed,
            device=request.device,
            dtype=request.dtype,
            batch_size=request.batch_size,
        )
        check_capabilities(request, context.registry)
        self.data = build(context, "dataset", request.data, request.data_options)
        context = context.auditing(self.data.plugin)
        self.method = build(context, "method", request.method, request.method_options)
        self.labels = _labels(request, self.method.plugin.requires, self.data.plugin)
        self.tools = {role: build_tool(context, role, spec) for role, spec in request.tools.items()}
        self.verifiers = tuple(build_verifier(context, name) for name in request.verify_with)
        executor = build(context, "executor", request.executor) if request.executor else None
        self.model = build(context, "model", request.model, request.model_options)
        self.responder = Responder(
            _identity(self.model.stamp, request.dtype),
            partial(rebuild_model, request, context.cache) if executor else self._own_model,
            cache,
            batch_size=request.batch_size,
            executor=executor.plugin if executor else None,
            progressed=self._progressed,
            planning=planning,
        )
        self.audit = Audit(
            labels=self.labels,
            options=self.method.plugin.options,
            respond=self.responder,
            context=context,
            tools={role: built.plugin for role, built in self.tools.items()},
            all_samples=chosen_samples(self.data.plugin, request.limit, request.seed),
        )
        self._manager = pluggy.PluginManager("cuescope")
        self._manager.add_hookspecs(hookspecs)
        # pluggy calls the last registered first: the method speaks before observers and verifiers
        verify_only = [SimpleNamespace(verify=built.plugin.verify) for built in self.verifiers]
        for plugin in (*verify_only, *observers, self.method.plugin):
            self._manager.register(plugin)

    def run(self) -> Report:
        """The four hooks, in order."""
        audit, hook = self.audit, self._manager.hook
        hook.audit_started(audit=audit)
        with audit.context.registry.blaming(
            audit.context.registry.find("method", Spec.parse(self.request.method).name)
        ):
            features = flatten(hook.propose_features(audit=audit))
            trials = flatten(hook.perturb(audit=audit, features=features))
            outcomes = audit.respond(trials)
            scores = flatten(hook.compute_scores(audit=audit, features=features, outcomes=outcomes))
            audit.revealed = True
            evidence = flatten(hook.verify(audit=audit, features=features, scores=scores))
            report = Report(
                title=self.method.plugin.title,
                metrics=self.method.plugin.metrics,
                notes=audit.notes,
                features=tuple(features),
                scores=tuple(scores),
                evidence=tuple(evidence),
                provenance=self._provenance(),
                cost=self._cost(),
            )
        hook.audit_finished(audit=audit, report=report)
        return report

    def plan(self) -> Plan:
        """What `run` would ask of the model."""
        whole = True
        try:
            self.run()
        except Unanswered:
            whole = False
        asked = self.responder
        pace = self.cache.pace(asked.identity)
        seconds = None if pace is None else pace * asked.model_calls
        return Plan(asked.trials, asked.cache_hits, asked.model_calls, seconds, whole)

    def _own_model(self) -> Model:
        model: Model = self.model.plugin
        return model

    def _progressed(self, done: int, total: int, cached: int) -> None:
        self._manager.hook.responses_progressed(
            audit=self.audit, done=done, total=total, cached=cached
        )

    def _cost(self) -> Cost:
        asked = self.responder
        seconds = time.perf_counter() - self._clock
        return Cost(
            trials=asked.trials,
            model_calls=asked.model_calls,
            cache_hits=asked.cache_hits,
            seconds=round(seconds, 3),
        )

    def _provenance(self) -> Provenance:
        libraries = [name for name in ("torch", "faiss", "open_clip") if name in sys.modules]
        return Provenance(
            method=self.method.stamp,
            model=self.model.stamp,
            data=self.data.stamp,
            tools={role: built.stamp for role, built in self.tools.items()},
            verifiers=tuple(built.stamp for built in self.verifiers),
            seed=self.request.seed,
            limit=self.request.limit,
            samples=len(self.audit.all_samples),
            labels=self.labels,
            device=str(getattr(self.model.plugin, "device", self.request.device)),
            dtype=self.request.dtype,
            versions={
                "python": platform.python_version(),
                "cuescope": version("cuescope"),
                "numpy": version("numpy"),
                **{name: str(sys.modules[name].__version__) for name in libraries},
            },
            command=self.request.command,
            started=self.started.isoformat(timespec="seconds"),
        )


# ------------------------------------------------------------------------------------- building


def build(context: Context, kind: str, text: str, options: Any = None) -> Built:
    """A plugin by SPEC, with its stamp."""
    spec = Spec.parse(text)
    plugin = context.build(kind, spec, options)
    entry = context.registry.find(kind, spec.name)
    given = getattr(plugin, "options", None)
    return Built(
        plugin,
        PluginStamp(
            spec=text,
            options=given.model_dump(mode="json") if given else {},
            dist=entry.dist,
            version=entry.version,
            fingerprint=getattr(plugin, "fingerprint", None),
            facts=dict(getattr(plugin, "facts", {})),
        ),
    )


def build_tool(context: Context, role: str, text: str) -> Built:
    """A tool for a role; raises UserError where there is no such role or it cannot fill it."""
    if role not in ROLES:
        raise UserError(
            f"no tool role '{role}'", expected=f"one of {', '.join(ROLES)}",
            remedy=nearest(role, ROLES),
        )  # fmt: skip
    built = build(context, "tool", text)
    if not hasattr(built.plugin, ROLES[role]):
        raise UserError(
            f"tool {text} is no {role}", expected=f"a tool with {ROLES[role]}()",
            remedy="`cuescope plugins` lists the tools",
        )  # fmt: skip
    return built


def build_verifier(context: Context, name: str) -> Built:
    """A method of which only `verify` is used."""
    built = build(context, "method", name)
    if not hasattr(built.plugin, "verify"):
        raise UserError(f"--verify-with {name}", expected="a method with verify()", got="none")
    return built


def rebuild_model(request: Request, cache: Path) -> Model:
    """The request's model, built anew: what an executor sends to its workers."""
    context = Context(
        cache=cache,
        seed=request.seed,
        device=request.device,
        dtype=request.dtype,
        batch_size=request.batch_size,
    )
    data: Dataset = context.build("dataset", request.data, request.data_options)
    model: Model = context.auditing(data).build("model", request.model, request.model_options)
    return model


def chosen_samples(dataset: Dataset, limit: int | None, seed: int) -> tuple[Sample, ...]:
    """All samples, or a seeded draw of `limit` in their own order; raises on doubtful data sets."""
    indices: Sequence[int] = range(len(dataset))
    if limit is not None and limit < len(dataset):
        drawn = generator(seed, "limit").choice(len(dataset), limit, replace=False)
        indices = sorted(int(index) for index in drawn)
    samples = tuple(dataset[index] for index in indices)
    if not samples:
        raise UserError("the data set is empty", remedy="Check its path and split")
    if len({sample.key for sample in samples}) < len(samples):
        raise PluginError("the data set broke its contract", expected="one key a sample")
    return samples


def check_capabilities(request: Request, registry: Registry) -> None:
    """Refuse a pair that cannot work, before any weights load."""
    needs: Requirements = _plugin_class(registry, "method", request.method).requires
    has: Capabilities = _plugin_class(registry, "model", request.model).capabilities
    missing = _missing(needs, has)
    if missing:
        able = [
            entry.name
            for entry in registry.of_kind("model")
            if registry.check(entry) is None
            and not _missing(needs, registry.load(entry).capabilities)
        ]
        raise UserError(
            f"{request.method} cannot audit {request.model}",
            expected=f"a model with {' and '.join(missing)}",
            remedy=f"Installed models that have it: {', '.join(able) or 'none'}",
        )
    if lacking := sorted(needs.tools - request.tools.keys()):
        raise UserError(
            f"{request.method} needs a {lacking[0]}", remedy=f"Add --tool {lacking[0]}=SPEC"
        )


def _plugin_class(registry: Registry, kind: str, spec: str) -> Any:
    return registry.load(registry.find(kind, Spec.parse(spec).name))


def _missing(needs: Requirements, has: Capabilities) -> list[str]:
    return sorted(
        [f"output '{name}'" for name in needs.outputs - has.outputs]
        + [f"edit '{name}'" for name in needs.edits - has.edits]
    )


def _labels(request: Request, needs: Requirements, dataset: Dataset) -> tuple[str, ...]:
    labels = tuple(dataset.labels)
    if needs.labels and not labels:
        raise UserError(
            f"{request.method} needs labels", got=f"none in {request.data}",
            remedy="Use a data set with a closed label set",
        )  # fmt: skip
    return labels


def _identity(stamp: PluginStamp, dtype: str) -> str:
    """All about a model that enters its answers."""
    if not stamp.fingerprint:
        raise PluginError(f"model {stamp.spec} broke its contract", expected="a fingerprint")
    return digest(stamp.fingerprint, stamp.dist, stamp.version, dtype)


def flatten(results: Iterable[Iterable[T]]) -> list[T]:
    """What the plugins of a hook returned, as one list."""
    return list(chain.from_iterable(results))
