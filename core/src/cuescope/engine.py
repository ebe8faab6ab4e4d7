"""One audit, start to finish."""

import platform
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import chain
from typing import Any, TypeVar

import pluggy

from cuescope import hookspecs
from cuescope.audit import Audit
from cuescope.building import build_all, chosen_samples, rebuild_model
from cuescope.capabilities import Loads
from cuescope.context import Context
from cuescope.digest import digest
from cuescope.errors import PluginError, Unanswered
from cuescope.request import Request
from cuescope.respond import Responder
from cuescope.spec import Spec
from cuescope.store import ResponseCache
from cuescope.types import (
    Cost,
    Evidence,
    Feature,
    Picture,
    PluginStamp,
    Provenance,
    Report,
    Score,
    Table,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What an audit would cost, as far as it can be known without asking the model.

    It ends before the work `until`, None where it is whole; `seconds` is None for a model that has
    never been timed here. `tools` is their work so far, `notes` what the method says of the rest.
    """

    trials: int
    cached: int
    model_calls: int
    seconds: float | None
    until: str | None
    tools: Mapping[str, int]
    notes: Mapping[str, str]


class VerifyOnly:
    """Another method of which an audit wants the verification alone."""

    def __init__(self, method: Any) -> None:
        self.verify = method.verify


class Session:
    """A request with everything built and nothing asked yet."""

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
        self.parts = parts = build_all(request, context, planning)
        self.responder = Responder(
            identity_of(parts.model.stamp, request.dtype),
            partial(rebuild_model, request, context)
            if parts.executor
            else lambda: parts.model.plugin,
            cache,
            batch_size=request.batch_size,
            executor=parts.executor.plugin if parts.executor else None,
            blaming=partial(self._blaming, "model", parts.model.spec),
            progressed=self._progressed,
            planning=planning,
        )
        self.audit = Audit(
            labels=tuple(parts.data.plugin.labels),
            options=parts.method.plugin.options,
            respond=self.responder,
            context=parts.context,
            capabilities=parts.model.plugin.capabilities,
            tools={role: built.plugin for role, built in parts.tools.items()},
            all_samples=chosen_samples(parts, request.limit),
        )
        self._manager = pluggy.PluginManager("cuescope")
        self._manager.add_hookspecs(hookspecs)
        verifiers = [(built.spec, VerifyOnly(built.plugin)) for built in parts.verifiers]
        self._speakers = [(parts.method.spec, parts.method.plugin), *verifiers]
        for plugin in (*observers, *(speaker for _, speaker in self._speakers)):
            self._manager.register(plugin)

    def run(self) -> Report:
        """The four hooks, in order."""
        audit, hook, method = self.audit, self._manager.hook, self.parts.method
        if not audit.context.planning:
            self._open_weights()
        self._tell("audit_started")
        with self._blaming("method", method.spec):
            features = flatten(hook.propose_features(audit=audit))
            trials = flatten(hook.perturb(audit=audit, features=features))
            outcomes = audit.respond(trials)
            scores = flatten(hook.compute_scores(audit=audit, features=features, outcomes=outcomes))
            audit.revealed = True
            evidence = list(self._verified(features, scores))
            return Report(
                title=method.plugin.title,
                metrics=method.plugin.metrics,
                notes=audit.notes,
                features=tuple(features),
                scores=tuple(scores),
                evidence=tuple(evidence),
                tables=tuple(item for item in audit.shown if isinstance(item, Table)),
                pictures=tuple(item for item in audit.shown if isinstance(item, Picture)),
                provenance=self.provenance(),
                cost=self._cost(),
            )

    def _open_weights(self) -> None:
        """What cannot be opened is told before anything is asked; workers open their own."""
        asked = [("tool", built) for built in self.parts.tools.values()]
        for kind, built in asked if self.parts.executor else [*asked, ("model", self.parts.model)]:
            if isinstance(built.plugin, Loads):
                with self._blaming(kind, built.spec):
                    built.plugin.load()

    def _verified(self, features: list[Feature], scores: list[Score]) -> Iterator[Evidence]:
        """What the method says, then each extra verifier; a failure is told under its own name."""
        news = {"audit": self.audit, "features": features, "scores": scores}
        for spec, speaker in self._speakers:
            others = [plugin for plugin in self._manager.get_plugins() if plugin is not speaker]
            with self._blaming("method", spec):
                yield from flatten(self._manager.subset_hook_caller("verify", others)(**news))

    def finished(self, report: Report) -> None:
        """Tell the observers that the report is stored."""
        self._tell("audit_finished", report=report)

    def _tell(self, hook: str, **news: Any) -> None:
        """An observer that fails is a warning: it must not cost an audit."""
        try:
            getattr(self._manager.hook, hook)(audit=self.audit, **news)
        except Exception as error:
            warnings.warn(
                f"an observer failed at {hook}: {type(error).__name__}: {error}", stacklevel=2
            )

    def plan(self) -> Plan:
        """What `run` would ask of the model."""
        until = None
        try:
            self.run()
        except Unanswered as end:
            until = str(end)
        asked = self.responder
        pace = self.cache.pace(asked.identity)
        seconds = None if pace is None else pace * asked.model_calls
        return Plan(
            asked.trials, asked.cache_hits, asked.model_calls, seconds, until,
            self.parts.context.spent, self.audit.notes,
        )  # fmt: skip

    def _blaming(self, kind: str, spec: str) -> AbstractContextManager[None]:
        registry = self.parts.context.registry
        return registry.blaming(registry.find(kind, Spec.parse(spec).name))

    def _progressed(self, done: int, total: int, cached: int) -> None:
        self._tell("responses_progressed", done=done, total=total, cached=cached)

    def _cost(self) -> Cost:
        asked = self.responder
        return Cost(
            trials=asked.trials,
            model_calls=asked.model_calls,
            cache_hits=asked.cache_hits,
            seconds=round(time.perf_counter() - self._clock, 3),
            tools=dict(self.parts.context.spent),
        )

    def provenance(self) -> Provenance:
        """Where the report comes from."""
        request, parts = self.request, self.parts
        libraries = [name for name in ("torch", "faiss", "open_clip") if name in sys.modules]
        return Provenance(
            method=parts.method.stamp,
            model=parts.model.stamp,
            data=parts.data.stamp,
            tools={role: built.stamp for role, built in parts.tools.items()},
            verifiers=tuple(built.stamp for built in parts.verifiers),
            seed=request.seed,
            limit=request.limit,
            samples=len(self.audit.all_samples),
            labels=self.audit.labels,
            device=str(getattr(parts.model.plugin, "device", request.device)),
            dtype=request.dtype,
            versions={
                "python": platform.python_version(),
                "cuescope": version("cuescope"),
                "numpy": version("numpy"),
                **{name: str(sys.modules[name].__version__) for name in libraries},
            },
            command=request.command,
            started=self.started.isoformat(timespec="seconds"),
        )


def identity_of(stamp: PluginStamp, dtype: str) -> str:
    """All about a model that enters its answers."""
    if not stamp.fingerprint:
        raise PluginError(f"model {stamp.spec} broke its contract", expected="a fingerprint")
    return digest(stamp.fingerprint, stamp.dist, stamp.version, dtype)


def flatten(results: Iterable[Iterable[T]]) -> list[T]:
    """What the plugins of a hook returned, as one list."""
    return list(chain.from_iterable(results))
