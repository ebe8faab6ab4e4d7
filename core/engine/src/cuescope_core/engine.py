"""One audit, start to finish."""

import platform
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any, NoReturn, TypeVar

import pluggy

from cuescope_core import hookspecs
from cuescope_core.auditing import Audit, NotYet, without_cues
from cuescope_core.building import Built, build_all, choose_samples, rebuild_model
from cuescope_core.capabilities import (
    EMBEDDER,
    HasPlantedCues,
    KnowsNoEffect,
    LazyWeights,
)
from cuescope_core.conclusions import (
    Accuracy,
    Contrast,
    Cost,
    Evidence,
    Feature,
    Finding,
    Picture,
    PluginStamp,
    Portrait,
    Provenance,
    Report,
    Score,
    Table,
    cues_of,
    with_doubts,
    with_one_verdict,
)
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.errors import PluginError, nearest, with_article
from cuescope_core.registry import version_with_code
from cuescope_core.request import Request
from cuescope_core.respond import ModelRunner, check_of, model_name
from cuescope_core.store import ResponseCache
from cuescope_core.types import Outcome, Trial

FAILED = "What failed and was left out"
T = TypeVar("T")
Respond = Callable[[Iterable[Trial]], Sequence[Outcome]]


class VerifyOnly:
    """Another method of which an audit wants the verification alone."""

    def __init__(self, method: Any) -> None:
        self.verify = method.verify  # one attribute, so that pluggy finds no other hook


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
        self.started = datetime.now(UTC)
        # not `started`: a wall clock may be set meanwhile
        self._clock = time.perf_counter()
        self.request = request
        self.cache = cache
        self.parts = parts = build_all(request, context, planning)
        self.samples = choose_samples(parts, request)
        # the method must find the cues by itself
        hidden = tuple(map(without_cues, self.samples))
        self.respond = self._model_runner(context, planning)
        self.eye = self._eye_runner(planning)
        capabilities = parts.model.plugin.capabilities
        respond: Respond = self.respond
        if self.eye is not None:
            from cuescope_core.separate_embedder import OutsideEye, with_eye

            eye = parts.tools[EMBEDDER].plugin
            capabilities = with_eye(capabilities, eye)
            respond = OutsideEye(self.respond, self.eye)
        self.audit = Audit(
            labels=tuple(parts.data.plugin.labels),
            options=parts.method.plugin.options,
            respond=respond,
            context=parts.context,
            capabilities=capabilities,
            embedder=parts.tools.get(EMBEDDER, parts.model).stamp.fingerprint,
            tools={role: built.plugin for role, built in parts.tools.items()},
            tool_specs={role: built.spec for role, built in parts.tools.items()},
            samples=hidden,
            outcomes=NotYet("outcomes", "compute_scores, or verify"),
            features=NotYet("features", "verify; other hooks are handed them"),
            scores=NotYet("scores", "verify"),
            answers_now=self.respond.answers_now,
        )
        self._verifiers: list[tuple[Built, object]] = [
            (parts.method, parts.method.plugin)
        ]
        for built in parts.verifiers:
            self._verifiers.append((built, VerifyOnly(built.plugin)))
        # one of its own: installed methods meet only where a person asks for both
        self._manager = pluggy.PluginManager("cuescope")
        self._manager.add_hookspecs(hookspecs)
        for observer in observers:
            self._manager.register(observer)
        for _, verifier in self._verifiers:
            self._manager.register(verifier)

    def _model_runner(self, context: Context, planning: bool) -> ModelRunner:
        model = self.parts.model
        executor = None
        # the one that is open already: a second one would double the memory
        build_model = partial(getattr, model, "plugin")
        if self.parts.executor:
            executor = self.parts.executor.plugin
            # its workers are other processes: each builds a model of its own
            build_model = partial(rebuild_model, self.request, context)
        return ModelRunner(
            identity_of(model.stamp, self.request.dtype),
            build_model,
            self.cache,
            batch_size=self.request.batch_size,
            repeats=self.request.repeats,
            executor=executor,
            blaming=partial(self._blaming, model),
            require=check_of(model.plugin),
            on_progress=self._on_progress,
            on_answers=lambda outcomes: self._notify("answered", outcomes=outcomes),
            planning=planning,
            keeps_answers=getattr(model.plugin, "keeps_answers", False),
            recorded="recorded" in model.plugin.capabilities.exposes,
            name=model_name(model.spec),
        )

    def _eye_runner(self, planning: bool) -> ModelRunner | None:
        """The runner of the embedding tool, as of a model: cached, in batches, planned."""
        built = self.parts.tools.get(EMBEDDER)
        if built is None:
            return None
        from cuescope_core.separate_embedder import ToolAsModel

        plugin = built.plugin
        eye: Any = plugin if hasattr(plugin, "respond") else ToolAsModel(plugin)
        return ModelRunner(
            identity_of(built.stamp, self.request.dtype),
            lambda: eye,
            self.cache,
            batch_size=self.request.batch_size,
            blaming=partial(self._blaming, built),
            require=check_of(eye),
            on_progress=self._on_progress,
            planning=planning,
            name=f"{EMBEDDER} '{built.spec}'",
        )

    @property
    def eye_calls(self) -> dict[str, int]:
        """Calls of the embedding tool, made or planned, in words."""
        if self.eye is None:
            return {}
        return {f"samples shown to the {EMBEDDER}": self.eye.model_calls}

    def _tell_eye(self) -> None:
        """Whose eye it was."""
        if self.eye is not None:
            from cuescope_core.separate_embedder import EYE_PATCHES

            spec = self.parts.tools[EMBEDDER].spec
            has_patches = EYE_PATCHES in self.audit.capabilities.exposes
            patches = ", patches too" if has_patches else ""
            self.audit.note(
                "embeddings",
                f"by {spec}, and not by the model{patches}. Cues are told apart as this separate "
                "embedder sees them; what it does not see cannot be found",
            )

    def run(self) -> Report:
        """The four hooks, in order."""
        audit = self.audit
        hook = self._manager.hook
        method = self.parts.method
        if not audit.context.planning:  # a plan opens nothing
            self._open_weights()
        self._notify("audit_started")
        with self._blaming(method), self._without_cues():
            proposed = hook.propose_features(audit=audit)
            require_given(self.parts.method, "propose_features", proposed, "features")
            features = self._features(proposed)
            perturbed = hook.perturb(audit=audit, features=features)
            require_given(self.parts.method, "perturb", perturbed, "trials")
            # kept, so that verify asks nothing twice
            audit.outcomes = outcomes = self._answer(
                each_of("perturb", method.spec, perturbed, Trial, Outcome)
            )
            of_hook = hook.compute_scores(
                audit=audit,
                features=features,
                outcomes=outcomes,
            )
            require_given(self.parts.method, "compute_scores", of_hook, "scores")
            scored = list(each_of("compute_scores", method.spec, of_hook, Score))
            self._require_labels(scored)
            self._require_whole_findings(scored)
            scores = self._with_one_verdict(scored)
            self._reveal_cues()
            audit.features = features
            audit.scores = scores
            # worked out now: checks add notes and tables, which are read below
            evidence = tuple(self._verify(features, scores))
            self._note_repeats()
            self._tell_eye()
            self._tell_failures()
            accuracies = self._attachments(Accuracy)
            metrics = method.plugin.metrics
            # here, not in a method: whatever yields the check gets it (docs/adr/0023)
            doubted = with_doubts(scores, evidence)
            return Report(
                title=method.plugin.title,
                metrics=metrics,
                notes=audit.notes,
                features=tuple(features),
                scores=doubted,
                cues=cues_of(metrics, doubted, self._attachments(Finding)),
                evidence=evidence,
                tables=self._attachments(Table),
                pictures=self._attachments(Picture),
                contrasts=self._attachments(Contrast),
                portraits=self._attachments(Portrait),
                accuracy=accuracies[-1] if accuracies else None,
                provenance=self.provenance(),
                cost=self._cost(),
            )

    def _features(self, of_hook: Iterable[Any]) -> list[Feature]:
        """The candidates; two of one key would be one in every table."""
        spec = self.parts.method.spec
        features = list(each_of("propose_features", spec, of_hook, Feature))
        for key, count in Counter(feature.key for feature in features).items():
            if count > 1:
                raise PluginError(
                    f"propose_features of method {spec}",
                    expected="a key of its own for each feature",
                    got=f"{count} features with the key {key!r}",
                )
        self._require_samples(features)
        return features

    def _require_samples(self, features: Iterable[Feature]) -> None:
        """Each occurrence is in a sample of the audit, or the report would show nothing there."""
        frames = {sample.key: len(sample.frames) for sample in self.samples}
        for feature in features:
            for place in feature.occurrences:
                count = frames.get(place.sample)
                if count is None:
                    got = f"the sample {place.sample!r}"
                elif place.frame is not None and place.frame >= max(count, 1):
                    got = f"frame {place.frame} of {place.sample!r}, which has {count}"
                else:
                    continue
                raise PluginError(
                    f"propose_features of method {self.parts.method.spec}",
                    expected="occurrences in samples of `audit.samples`, frames counted from 0",
                    got=f"{got}, for {feature.key!r}",
                    remedy=None if count else nearest(place.sample, frames),
                )

    def _require_labels(self, scores: Iterable[Score]) -> None:
        """Each score is about a label that somebody could have answered."""
        known = set(self.audit.labels)
        for sample in self.samples:
            known.update(
                sample.choices, () if sample.label is None else (sample.label,)
            )
        for score in scores:
            if score.label is not None and score.label not in known:
                raise PluginError(
                    f"compute_scores of method {self.parts.method.spec}",
                    expected="a label or choice of the data, or None for all of them",
                    got=f"label {score.label!r} in a score of {score.feature!r}",
                    remedy=nearest(score.label, known),
                )

    def _require_whole_findings(self, scores: Iterable[Score]) -> None:
        """A star rests on an interval and a q-value, and says in words what was found."""
        method = self.parts.method
        # controls claim nothing, and a test of others' findings has a verdict of its own
        kind = type(method.plugin)
        if getattr(kind, "is_control", False) or getattr(kind, "started_by", None):
            return
        scores = list(scores)
        # a ranking has units of its own: the interval may be that of another figure beside it
        bounded = {
            (score.feature, score.label)
            for score in scores
            if score.low is not None and score.high is not None
        }
        for score in scores:
            # a verdict that is open has no figure
            if not score.finding or score.value is None:
                continue
            needed = ["statement", "q_value"]
            if (score.feature, score.label) not in bounded:
                needed += ["low", "high"]
            missing = [name for name in needed if getattr(score, name) is None]
            if missing:
                raise PluginError(
                    f"a finding of method {method.spec}, {score.feature!r}",
                    expected="statement, low, high and q_value",
                    got=f"no {', '.join(missing)}",
                )

    @contextmanager
    def _without_cues(self) -> Iterator[None]:
        """Say what a method did that looked for the ground truth too early."""
        try:
            yield
        except KeyError as error:
            if error.args != ("cues",) or self.audit.samples is self.samples:
                raise
            raise PluginError(
                f"method {self.parts.method.spec} read annotations['cues'] too early",
                expected="it read in verify: a method finds cues by itself",
            ) from error

    def _attachments(self, kind: type[T]) -> tuple[T, ...]:
        return tuple(item for item in self.audit.attachments if isinstance(item, kind))

    def _answer(self, perturbed: Iterable[Trial | Outcome]) -> Sequence[Outcome]:
        """The outcomes of what `perturb` gave, in order; those that it has are not asked again."""
        items = list(perturbed)
        trials = [item for item in items if isinstance(item, Trial)]
        answers = self.audit.respond(trials) if trials else []
        return list(replace_trials(items, answers))

    def _note_repeats(self) -> None:
        if not getattr(self.parts.model.plugin, "random_answers", False):
            return
        words = "one to a question; --repeats 5 averages over chance"
        if (count := self.respond.repeats) > 1:
            # a method may ask nothing
            share = self.respond.agreeing / max(self.respond.combined, 1)
            words = f"{count} to a question; {share:.0%} of them agree with the one that counts"
        self.audit.note("answers drawn by chance", words)

    def _tell_failures(self) -> None:
        failures = self.audit.failures
        if failures:
            self.audit.note("failed", f"{', '.join(failures)} (see '{FAILED}')")
            table = Table.of(FAILED, ("part", "why"), failures.items())
            self.audit.attach(table)

    def _open_weights(self) -> None:
        """Weights that cannot be opened are reported before the first question."""
        lazy = [*self.parts.tools.values()]
        if not self.parts.executor:  # its workers open the model themselves
            lazy.append(self.parts.model)
        for built in lazy:
            if isinstance(built.plugin, LazyWeights):
                with self._blaming(built):
                    built.plugin.open_weights()

    def _with_one_verdict(self, scores: list[Score]) -> list[Score]:
        """Let intervals decide too, for a method that knows its value where there is nothing."""
        method = self.parts.method.plugin
        if not isinstance(method, KnowsNoEffect):
            return scores
        first = method.metrics[0].name
        return list(with_one_verdict(scores, first, method.no_effect))

    def _reveal_cues(self) -> None:
        """From here on a method may look at the answer sheet."""
        self.audit.samples = self.samples
        dataset = self.parts.data.plugin
        if isinstance(dataset, HasPlantedCues):
            self.audit.planted_cues = tuple(dataset.planted_cues)

    def _verify(
        self,
        features: list[Feature],
        scores: list[Score],
    ) -> Iterator[Evidence]:
        """The method's checks, then each extra verifier's; a failure names the one that failed."""
        plugins = self._manager.get_plugins()
        for built, verifier in self._verifiers:
            # pluggy would mix all evidence, and run the last one first
            verify = self._manager.subset_hook_caller("verify", plugins - {verifier})
            with self._blaming(built):
                of_hook = verify(audit=self.audit, features=features, scores=scores)
                require_given(built, "verify", of_hook, "evidence")
                yield from each_of("verify", built.spec, of_hook, Evidence)

    def finish(self, report: Report) -> None:
        """Notify the observers that the report is stored."""
        self._notify("audit_finished", report=report)

    def _notify(self, hook: str, **arguments: Any) -> None:
        """An observer that fails is a warning: it must not cost an audit."""
        try:
            getattr(self._manager.hook, hook)(audit=self.audit, **arguments)
        except Exception as error:
            warnings.warn(
                f"an observer failed at {hook}: {type(error).__name__}: {error}",
                stacklevel=2,
            )

    def _blaming(self, built: Built) -> AbstractContextManager[None]:
        registry = self.parts.context.registry
        return registry.blaming(built.entry)

    def _on_progress(
        self,
        done: int,
        total: int,
        cached: int,
        inputs: int,
        all_inputs: int,
    ) -> None:
        self._notify(
            "responses_progressed",
            done=done,
            total=total,
            cached=cached,
            inputs=inputs,
            all_inputs=all_inputs,
        )

    def _cost(self) -> Cost:
        respond = self.respond
        return Cost(
            trials=respond.trials,
            model_calls=respond.model_calls,
            cache_hits=respond.cache_hits,
            seconds=round(time.perf_counter() - self._clock, 3),
            shown=respond.shown,
            pictures=len(respond.pictures),
            model_seconds=round(respond.model_seconds, 3),
            tool_calls=dict(self.parts.context.tool_calls) | self.eye_calls,
            conditions=dict(respond.conditions),
        )

    def provenance(self) -> Provenance:
        """Where the report comes from."""
        request = self.request
        parts = self.parts
        return Provenance(
            method=parts.method.stamp,
            model=parts.model.stamp,
            data=parts.data.stamp,
            tools={role: built.stamp for role, built in parts.tools.items()},
            verifiers=tuple(built.stamp for built in parts.verifiers),
            seed=request.seed,
            limit=request.limit,
            part=request.part,
            samples=len(self.audit.samples),
            labels=self.audit.labels,
            device=str(
                getattr(parts.model.plugin, "device", request.device)
            ),  # what "auto" became
            dtype=request.dtype,
            versions=library_versions(),
            command=request.command,
            started=self.started.isoformat(timespec="seconds"),
        )


def library_versions() -> dict[str, str]:
    """The versions of all that may have had a part in an audit."""
    versions = {
        "python": platform.python_version(),
        "cuescope": version_with_code("cuescope-core", "cuescope_core"),
        "cuescope-sdk": version_with_code("cuescope-sdk"),
        "numpy": version("numpy"),
    }
    for name in ("torch", "scipy", "open_clip"):
        # only what ran: an installed library changes nothing
        if name in sys.modules:
            versions[name] = str(sys.modules[name].__version__)
    return versions


def identity_of(stamp: PluginStamp, dtype: str) -> str:
    """All about a model that enters its answers."""
    # without one, models would answer for each other from the cache
    if not stamp.fingerprint:
        raise PluginError(
            f"model {stamp.spec} broke its contract", expected="a fingerprint"
        )
    # without word of its authors, another version may preprocess otherwise (docs/adr/0003)
    version = stamp.answers_version or stamp.version
    # code too: an editable plugin keeps its version while its code changes
    # no device: a GPU and a CPU share answers, which agree within rounding (docs/adr/0003)
    return digest(stamp.fingerprint, stamp.dist, version, stamp.code, dtype)


def replace_trials(
    items: Iterable[Trial | Outcome], answers: Iterable[Outcome]
) -> Iterator[Outcome]:
    """The items, with the next answer in the place of each trial."""
    next_answer = iter(answers)
    for item in items:
        yield item if isinstance(item, Outcome) else next(next_answer)


def require_given(
    built: Built, hook: str, of_hook: Sequence[object], what: str
) -> None:
    """pluggy drops a None, and a forgotten `return` would look like "nothing found"."""
    if not of_hook and hasattr(built.plugin, hook):
        raise PluginError(
            f"{hook} of method {built.spec}",
            expected=f"{what}, returned or yielded ([] where there are none)",
            got="None",
        )


def each_of(
    hook: str, spec: str, results: Iterable[Any], *kinds: type[Any]
) -> Iterator[Any]:
    """Yield what plugins returned from a hook; raises PluginError for what it may not give.

    A single value is no list: pydantic's can be iterated, and would fall into its fields.
    """
    names = " or ".join(kind.__name__ for kind in kinds)
    for result in results:
        listed = isinstance(result, Iterable) and not isinstance(result, (str, *kinds))
        if not listed:
            _refuse_result(hook, spec, names, result)
        for item in result:
            if not isinstance(item, kinds):
                _refuse_result(hook, spec, names, item)
            yield item


def _refuse_result(hook: str, spec: str, names: str, item: object) -> NoReturn:
    raise PluginError(
        f"{hook} of method {spec}",
        expected=f"{names} values, yielded one by one or returned in a list",
        got=f"{with_article(type(item).__name__)} ({item!r:.60})",
    )
