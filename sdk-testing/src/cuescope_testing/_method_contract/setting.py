"""A method under test, and the audits that its checks look at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeVar

from cuescope_sdk import (
    Feature,
    Metric,
    PluginError,
    Report,
    Requirements,
    Response,
    Sample,
    Trial,
    UserError,
)
from cuescope_testing._contract import (
    Contract,
    ContractViolation,
    NotApplicable,
    PerClass,
    expect,
)
from cuescope_testing._fake_data import DECOY, POINTS, FakeDataset, points_at
from cuescope_testing._fake_models import FakeModel
from cuescope_testing._fake_tools import FAKE_TOOLS
from cuescope_testing._running import Setup, temporary_cache

T = TypeVar("T")
# of 150: enough for a method to run, far from all
LIMIT = 60
Paradigm = Literal["errors", "reliance"]
# What the fake data plant for a paradigm, and the options of a model that gives nothing to find.
PLANTED: dict[Paradigm, Mapping[str, Any]] = {
    "errors": {},
    "reliance": {"cue": "helps"},
}
NOTHING_TO_FIND: dict[Paradigm, Mapping[str, Any]] = {
    "errors": {"lean": 0},
    # A correct model relies on the green patch as well, so without signal: it guesses.
    "reliance": {"lean": 0, "signal": 0},
}


@dataclass(frozen=True)
class Run:
    """An audit, with the trials that it handed to `respond` and those that came to the model."""

    report: Report
    trials: tuple[Trial, ...]
    model_trials: tuple[Trial, ...]
    samples: tuple[Sample, ...]


class MethodSetting(Contract):
    """A method on the fake model and the fake data set.

    `paradigm` says what the method looks for. "errors": cues that make a model err; the fake model
    takes a red corner for "top" wherever it shows. "reliance": cues that a correct model relies on,
    which cost accuracy or probability when they are hidden; samples of "top" then show the red
    corner in place of their green patch, so that the model is right by the corner alone.

    A `model` or `data` of your own must take the options of the fakes (`lean`, `noise`, `signal`;
    see `FakeModelOptions` and `FakeDataOptions`), for they say what there is to find. `tools` are
    classes by role, the fake ones where none is given. A method that cannot find the red corner
    (it looks for cues of another kind) sets `finds_planted_cue = False`; `missed_plants` says which
    of the further plants ("trade", "rare", "wrong labels") it misses, and why. On data with nothing
    to find, at most `null_allowed` of `null_audits` audits may have a finding: 2 of 10 are expected
    in 1 of 87 suites of a method that errs in 5 % of its audits, and the draws are always the same.
    """

    kind = "method"
    model: ClassVar[type[Any]] = FakeModel
    data: ClassVar[type[Any]] = FakeDataset
    model_options: ClassVar[Mapping[str, Any]] = {}
    data_options: ClassVar[Mapping[str, Any]] = {}
    tools: ClassVar[Mapping[str, type[Any]]] = {}
    paradigm: ClassVar[Paradigm] = "errors"
    finds_planted_cue: ClassVar[bool] = True
    missed_plants: ClassVar[Mapping[str, str]] = {}
    null_audits: ClassVar[int] = 10
    null_allowed: ClassVar[int] = 2
    base: PerClass[Run] = PerClass(lambda contract: contract.run())

    @classmethod
    def setup(
        cls,
        data: Mapping[str, Any] = {},
        model: Mapping[str, Any] = {},
    ) -> Setup:
        """The audit of the contract, with other options of data and model."""
        # what it may use is not given: it must do without
        needed = {**FAKE_TOOLS, **cls.tools}
        roles = cls.plugin.requires.tools
        for role in sorted(roles - needed.keys()):
            raise NotApplicable(
                f"needs a tool in the role '{role}', of which the sdk has no fake: give the "
                f"contract tools = {{'{role}': ...}}"
            )
        return Setup(
            method=cls.plugin,
            model=cls.model,
            data=cls.data,
            options=cls.options,
            model_options={**cls.model_options, **model},
            data_options={**PLANTED[cls.paradigm], **cls.data_options, **data},
            tools={role: needed[role] for role in roles | cls.tools.keys()},
            # not the user's own: a check must not meet what other versions kept there
            folder=cls.cache_folder(),
        )

    @classmethod
    def run(cls, **settings: Any) -> Run:
        """Run the audit, and keep its trials."""
        trials: list[Trial] = []
        model_trials: list[Trial] = []
        # readouts pass by the model's `respond`
        executor_trials: list[Trial] = []
        setup = replace(cls.setup(), model=recording_model(cls.model, model_trials))
        with temporary_cache() as cache:
            session = setup.session(cache, **settings)
            build = session.respond.build
            session.audit.respond = recording(session.audit.respond, trials)
            # a model is built late, by the runner
            session.respond.build = lambda: recording(build(), executor_trials)  # type: ignore
            report = session.run()
        # the others are recorded by the model already
        model_trials += [
            trial for trial in executor_trials if trial.readout is not None
        ]
        return Run(report, tuple(trials), tuple(model_trials), session.audit.samples)

    @property
    def samples(self) -> dict[str, Sample]:
        """The samples of the contract's audit, by key."""
        return {sample.key: sample for sample in self.base.samples}

    @classmethod
    def report_or_refusal(cls, setup: Setup, about: str) -> Report | None:
        """The report, or None where the method refuses in words; a crash is a violation."""
        try:
            return setup.report()
        except PluginError as error:
            raise ContractViolation(
                f"a report or a UserError for {about}", got=error
            ) from error
        except UserError:
            return None

    def exercise(self) -> None:
        """One small audit."""
        self.setup().report(limit=LIMIT)


def recording(
    respond: Callable[[list[Trial]], T], trials: list[Trial]
) -> Callable[[Iterable[Trial]], T]:
    """A `respond` that adds trials to a list first."""

    def record(new: Iterable[Trial]) -> T:
        # a generator can be gone through once
        trials.extend(own := list(new))
        return respond(own)

    return record


def recording_model(model: type[Any], trials: list[Trial]) -> type[Any]:
    """The model, which adds what it is asked to a list."""

    class Recording(model):  # type: ignore[misc]
        def respond(self, new: Sequence[Trial]) -> list[Response]:
            trials.extend(new)
            responses: list[Response] = super().respond(new)
            return responses

    return Recording


def found_features(report: Report) -> list[Feature]:
    """The features of the findings, strongest first, each once."""
    by_key = {feature.key: feature for feature in report.features}
    # a feature may be a finding for several labels
    return [
        by_key[key] for key in dict.fromkeys(score.feature for score in report.findings)
    ]


def on_cue(feature: Feature, samples: Mapping[str, Sample]) -> bool:
    """True if a feature lies on the red corner."""
    return (points_at(feature, samples) or 0.0) >= POINTS


def on_decoy(feature: Feature, samples: Mapping[str, Sample]) -> bool:
    """True if a feature lies on the blue corner and not on the red one."""
    decoy = points_at(feature, samples, DECOY) or 0.0
    # on both corners, as a whole frame is, is no mistake for the decoy
    return decoy >= POINTS > 0.5 >= (points_at(feature, samples) or 0.0)


# --------------------------------------------------------------------------------------- declaring


MARK = "cuescope_impl"
HOOKS = ("propose_features", "perturb", "compute_scores", "verify")


class MethodDeclares(MethodSetting):
    """Title, requirements, metrics, hooks."""

    def test_declares_itself(self) -> None:
        """A title heads the report, `requires` pairs it with models, metrics are its columns."""
        title = getattr(self.plugin, "title", None)
        is_text = isinstance(title, str) and title.strip()
        expect(is_text, "a `title`, in words", got=repr(title))
        needs = getattr(self.plugin, "requires", None)
        expect(isinstance(needs, Requirements), "`requires`", got=repr(needs))
        metrics = tuple(getattr(self.plugin, "metrics", ()))
        names = [metric.name for metric in metrics if isinstance(metric, Metric)]
        are_metrics = 0 < len(names) == len(metrics)
        expect(are_metrics, "`metrics`, headline first", got=repr(metrics))
        expect(len(set(names)) == len(names), "metrics of distinct names", got=names)
        told = all(metric.title and metric.meaning for metric in metrics)
        expect(told, "a title and a meaning of each metric", got=repr(metrics))

    def test_marks_its_hooks(self) -> None:
        """pluggy passes over a hook without `@hookimpl`, and says nothing."""
        hooks = {
            name: hook for name in HOOKS if (hook := getattr(self.plugin, name, None))
        }
        bare = [name for name, hook in hooks.items() if not hasattr(hook, MARK)]
        expect(not bare, "@hookimpl on every hook", got=f"{bare} without it")
        expect("compute_scores" in hooks, "compute_scores", got="none")
