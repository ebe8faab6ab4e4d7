"""What a method says of itself, before anything runs."""

from cuescope_sdk import Metric, Requirements
from cuescope_sdk.testing._method_contract.setting import MethodSetting
from cuescope_sdk.testing._violation import expect

HOOKS = ("propose_features", "perturb", "compute_scores", "verify")


class MethodDeclares(MethodSetting):
    """Title, requirements, metrics, hooks."""

    def test_declares_a_title(self) -> None:
        """A report is headed by it."""
        title = getattr(self.plugin, "title", None)
        expect(
            isinstance(title, str) and bool(title.strip()),
            "a class attribute `title`, in words",
            got=repr(title),
            remedy="Write title = 'NAME: what it finds'",
        )

    def test_declares_requirements(self) -> None:
        """Pairs of method and model are refused before weights load, from the class alone."""
        needs = getattr(self.plugin, "requires", None)
        expect(
            isinstance(needs, Requirements),
            "a class attribute `requires = Requirements(...)`",
            got=repr(needs),
            remedy="Declare the outputs, edits and tools that it asks for",
        )

    def test_declares_metrics(self) -> None:
        """Columns of the report, each with a meaning for who has not read the paper."""
        metrics = tuple(getattr(self.plugin, "metrics", ()))
        names = [metric.name for metric in metrics if isinstance(metric, Metric)]
        whole = len(names) == len(metrics) > 0 and len(set(names)) == len(names)
        expect(
            whole and all(metric.title and metric.meaning for metric in metrics),
            "a class attribute `metrics` of Metric, names unique, headline first",
            got=repr(metrics),
            remedy="Give each a name, a title and a meaning",
        )

    def test_marks_its_hooks(self) -> None:
        """pluggy passes over a hook without `@hookimpl`, and says nothing."""
        written = [name for name in HOOKS if hasattr(self.plugin, name)]
        bare = [
            name for name in written if not hasattr(getattr(self.plugin, name), "cuescope_impl")
        ]
        expect(
            not bare and "compute_scores" in written,
            "compute_scores, and @hookimpl on every hook",
            got=f"{', '.join(bare)} without it" if bare else "no compute_scores",
            remedy="Put @hookimpl of cuescope_sdk above propose_features, perturb ...",
        )
