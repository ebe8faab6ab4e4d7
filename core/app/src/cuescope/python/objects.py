"""Objects of a caller for a model or for data, and what stands for each in the registry."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import getsource
from pathlib import PurePath
from typing import Any
from uuid import uuid4

from cuescope.python.functions import Classifier, OfFunction
from cuescope.python.images import Images
from cuescope.python.mitigated import Mitigated, hold_mitigated
from cuescope.python.tables import is_table, table_images
from cuescope_core.capabilities import Dataset, Model
from cuescope_core.context import Context
from cuescope_core.digest import digest
from cuescope_core.errors import PluginError, UserError, with_article
from cuescope_core.in_memory import IN_MEMORY, Held, TakesObjects
from cuescope_core.plugin import Plugin
from cuescope_core.registry import Entry, Registry, require_whole
from cuescope_core.spec import MITIGATED, Spec, name_of, validate
from cuescope_core.types import Options

MODELS = (
    "a SPEC such as 'open-clip:ViT-B-16/openai', an open_clip model or a transformers model with "
    "its processor, a function from images to probabilities, or a cuescope model"
)
DATA = (
    "a SPEC such as 'folder:./photos', a tuple (images, labels), a pandas DataFrame, a "
    "datasets.Dataset, cuescope.Images, or a cuescope data set"
)
Given = Mapping[str, Any]


def spec_of(kind: str, item: Any, registry: Registry) -> Any:
    """Return the name that stands for a class, or an instance that is no model and no data.

    Anything else is as it was. What a caller in Python names is typed: `./idea.py:Idea` too.
    """
    if isinstance(item, str):
        registry.trust([Spec.parse(item).name])
    if isinstance(item, type):
        return _hold_class(kind, item, registry)
    if isinstance(item, Plugin) and kind not in ("model", "dataset"):
        cls = type(item)
        name = f"{name_of(cls.__name__)}-{digest(item.options.model_dump())[:8]}"
        registry.hold(_entry_of(kind, name, cls), _Instance(item))
        return name
    return item


def specs_of(words: Mapping[str, Any], registry: Registry) -> dict[str, Any]:
    """Settings with names where classes and instances stood: tools, verifiers, the executor."""
    named = dict(words)
    if isinstance(tools := named.get("tools"), Mapping):
        named["tools"] = {
            role: spec_of("tool", tool, registry) for role, tool in tools.items()
        }
    if isinstance(methods := named.get("verify_with"), list | tuple):
        named["verify_with"] = [spec_of("method", each, registry) for each in methods]
    if "executor" in named:
        named["executor"] = spec_of("executor", named["executor"], registry)
    return named


class _Instance:
    """Stand-in of an instance in the registry: what its class says, and itself when it is built."""

    Options = Options

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin

    def __call__(self, options: object, context: Context) -> Plugin:
        # no use for options: the instance has its own
        return self.plugin

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plugin, name)


def _hold_class(kind: str, cls: type, registry: Registry) -> str:
    entry = _entry_of(kind, name_of(cls.__name__), cls)
    try:
        require_whole(entry, cls)
    except TypeError as error:
        raise UserError(f"{kind} {cls.__name__}", got=str(error)) from error
    registry.hold(entry, cls)
    return entry.name


def _entry_of(kind: str, name: str, cls: type) -> Entry:
    try:
        # an edited class is another one
        version = digest(getsource(cls))
    except (OSError, TypeError):
        version = uuid4().hex
    target = f"{cls.__module__}:{cls.__qualname__}"
    return Entry(kind, name, target, IN_MEMORY, version, summary="")


def hold_model(item: Any, options: Given, name: str | None, context: Context) -> Held:
    """Hold a model of the caller; raises UserError for what is none."""
    if isinstance(item, Mitigated):
        return hold_mitigated(item, hold_model(item.model, options, name, context))
    # before other models: it is a Model too, but has to be bound to the labels of the data
    if isinstance(item, OfFunction):
        _refuse_options("model", options)
        return _of_function(item, name)
    if isinstance(item, Model):
        _refuse_options("model", options)
        return _of_plugin("model", item, name, capabilities=item.capabilities)
    if entry := _taker(item, context):
        return _of_taker(entry, item, options, name, context)
    if (
        callable(item)
        and not isinstance(item, type)
        # a bare network takes tensors, and what is at hand are images
        and not hasattr(item, "state_dict")
    ):
        _refuse_options("model", options)
        return _of_function(Classifier(item), name)
    raise UserError(
        f"model is {with_article(type(item).__name__)}",
        expected=MODELS,
        remedy=_how_to_wrap(item),
    )


def _how_to_wrap(item: Any) -> str | None:
    """Advice on making a model of what is at hand; None for what is no network and no estimator."""
    if isinstance(item, PurePath):
        return f"Write model='NAME:{item}' where a plugin reads it (`cuescope plugins`)"
    way = "in a function from a list of PIL images to probabilities, with its preprocessing"
    # as scikit-learn calls it
    if hasattr(item, "predict_proba"):
        return f"An estimator by itself: wrap its predict_proba {way}"
    return f"A network by itself: wrap it {way}" if callable(item) else None


def hold_data(item: Any, options: Given, name: str | None, context: Context) -> Held:
    """Hold data of the caller; raises UserError for what is none."""
    # first: tables alone take options, which name their columns
    if is_table(item):
        data: Any = table_images(item, options, name or "table", context.progress)
        return _of_plugin("dataset", data, data.name)
    _refuse_options("data", options)
    if isinstance(item, tuple) and len(item) == 2:
        data = Images(*item, name=name or "images", progress=context.progress)
        return _of_plugin("dataset", data, data.name)
    if isinstance(item, Dataset):
        return _of_plugin("dataset", item, name or getattr(item, "name", None))
    raise UserError(
        f"data is {with_article(type(item).__name__)}",
        expected=DATA,
        remedy=_how_to_give(item),
    )


def hold_other_data(item: Any, registry: Registry) -> str:
    """Hold data beside those of a run, and return the name for them; a text is a split's name."""
    if isinstance(item, str):
        return item
    held = hold_data(item, {}, None, Context(registry=registry))
    # both may be called "images", and are told apart by what they are
    other = replace(held, name=f"{held.name}-{held.fingerprint[:8]}")
    registry.hold(other.entry, other)
    return other.name


def _how_to_give(item: Any) -> str | None:
    """How images and labels are given that come as something else; None where nobody can tell."""
    if isinstance(item, PurePath):
        return f"Write data='folder:{item}'"
    if isinstance(item, list | tuple):
        if not (item and isinstance(item[0], tuple)):
            return "Labels belong to images: data=(images, labels)"
    elif not (hasattr(item, "__getitem__") and hasattr(item, "__len__")):
        return None
    # as torch has data sets: an item is a pair
    return (
        "Of pairs: images, labels = zip(*(data[i] for i in range(len(data)))), then "
        "data=(images, labels)"
    )


def _of_function(item: OfFunction, name: str | None) -> Held:
    if name is not None:
        item = item.with_name(name)

    def build(context: Context) -> Any:
        # the labels are known once the data is built
        if isinstance(item, Classifier) and context.dataset is not None:
            return item.for_audit(context.dataset.labels, context.batch_size)
        return item

    return Held(
        kind="model",
        name=item.name,
        build=build,
        fingerprint=item.fingerprint,
        capabilities=item.capabilities,
        private=item.private,
        function=item.function,
    )


def _of_plugin(kind: str, plugin: Any, name: str | None, **more: Any) -> Held:
    return Held(
        kind=kind,
        name=name_of(name or type(plugin).__name__),
        build=lambda context: plugin,
        fingerprint=plugin.fingerprint,
        **more,
    )


def _taker(item: object, context: Context) -> Entry | None:
    """The installed model plugin that answers for an object of this kind, None where none does."""
    registry = context.registry
    takers = [
        entry
        for entry in registry.of_kind("model")
        if registry.check(entry) is None
        and isinstance(cls := registry.load(entry), TakesObjects)
        # by `sys.modules`: a library that nobody has imported has made no object (docs/adr/0015)
        and cls.takes(item)
    ]
    if len(takers) > 1:
        raise PluginError(
            f"several plugins take a {type(item).__name__}",
            got=", ".join(f"{entry.name} of {entry.dist}" for entry in takers),
            remedy="Uninstall all but one of them",
        )
    return takers[0] if takers else None


def _of_taker(
    entry: Entry,
    item: object,
    options: Given,
    name: str | None,
    context: Context,
) -> Held:
    _refuse_mitigated("model", options)
    cls = context.registry.load(entry)
    title = name_of(name or f"{entry.name}-in-memory")
    # options may need their ARG: the object's name stands for it
    spec = Spec(entry.name, title if cls.Options.argument else None)
    with context.registry.blaming(entry):
        # nothing is guessed: a wrong tokenizer answers without an error (docs/adr/0015)
        plugin = cls.from_object(item, validate(entry, cls, spec, options), context)
    return _of_plugin(
        "model",
        plugin,
        title,
        dist=entry.dist,
        version=entry.version,
        capabilities=plugin.capabilities,
    )


def _refuse_options(kind: str, options: Given) -> None:
    _refuse_mitigated(kind, options)
    # dropped in silence, they would seem to have an effect
    if options:
        raise UserError(
            f"{kind}_options with a {kind} in memory",
            got=", ".join(options),
            remedy="Set them on the object itself",
        )


def _refuse_mitigated(kind: str, options: Given) -> None:
    # what is learned belongs to the object, which a report of this session remembers
    if kind == "model" and MITIGATED in options:
        raise UserError(
            f"model_options={{'{MITIGATED}': ...}} with a model in memory",
            expected="a model that is named by a SPEC",
            remedy=f"model=cuescope.Mitigated(model, '{options[MITIGATED]}')",
        )
