"""The words of `cuescope covar build`, checked, and what they name, opened."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, get_args

from cuescope.application import build, build_tool, by_role, pairs
from cuescope_covar_build.building import Builder
from cuescope_covar_build.composite import Composite
from cuescope_covar_build.croissant import write_croissant
from cuescope_covar_build.files import BuildFolder
from cuescope_covar_build.filtering import Filter
from cuescope_covar_build.grid import write_grid
from cuescope_covar_build.lists import choose_classes, read_backgrounds
from cuescope_covar_build.manifest import Row, write_manifest
from cuescope_covar_build.quality import Judges
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Sources, choose_samples
from cuescope_covar_build.variants import Keeps
from cuescope_sdk import (
    ROLES,
    Context,
    Dataset,
    Model,
    PluginError,
    TextGenerator,
    UserError,
    nearest,
)
from cuescope_sdk.editing import cached_editor

EDITOR, VIEWPOINT, SEGMENTER = "editor", "viewpoint-editor", "segmenter"
DETECTOR, JUDGE = "detector", "judge"
WRITER = "text-generator"
LARGEST_SCALE = 16.0


@dataclass(frozen=True)
class BuildOptions:
    """What a person asked for."""

    source: str
    out: Path
    data_options: dict[str, str]
    backgrounds: Path | None
    editor: str
    viewpoint_editor: str | None
    tools: dict[str, str]
    tool_options: dict[str, dict[str, str]]
    instruction: str
    classes: str | None
    per_class: int | None
    limit: int | None
    scales: tuple[float, ...]
    keep: Keeps
    side: int | None
    licence: str
    keep_all: bool
    judged: bool
    false_drops: float
    judge: str | None
    seed: int
    device: str
    dtype: str

    @classmethod
    def of(
        cls,
        *,
        data_options: Iterable[str],
        tools: Iterable[str],
        tool_options: Iterable[str],
        scales: str,
        keep: str,
        viewpoint_editor: str | None,
        judge: str | None,
        **others: Any,
    ) -> Self:
        """From a command line; raises UserError for a word that does not fit."""
        if keep not in get_args(Keeps):
            raise UserError(
                f"--keep {keep}",
                expected=f"one of {', '.join(get_args(Keeps))}",
                remedy=nearest(keep, get_args(Keeps)),
            )
        roles, given = pairs("--tool", tools), by_role(pairs("-T", tool_options))
        used = {EDITOR, *roles}
        used |= {VIEWPOINT} if viewpoint_editor else set()
        used |= {JUDGE} if judge else set()
        for role in roles:
            if role not in (SEGMENTER, DETECTOR):
                raise UserError(
                    f"--tool {role}",
                    expected=f"{SEGMENTER} or {DETECTOR}",
                    remedy=f"--{role} SPEC" if role in (EDITOR, VIEWPOINT, JUDGE) else None,
                )
        for role in given:
            if role not in used:
                raise UserError(
                    f"-T {role}: no tool has this role here", remedy=nearest(role, used)
                )
        return cls(
            data_options=pairs("-D", data_options),
            tools=roles,
            tool_options=given,
            scales=_scales(scales),
            keep=keep,  # type: ignore[arg-type]
            viewpoint_editor=viewpoint_editor,
            judge=judge,
            **others,
        )


@dataclass(frozen=True)
class OpenBuild:
    """A build that is ready to go on."""

    options: BuildOptions
    context: Context
    builder: Builder
    choices: tuple[str, ...]
    size: tuple[int, int]

    def run(self) -> list[Row]:
        """Make what is lacking, then the manifest."""
        folder = self.builder.folder
        folder.begin()
        folder.forget_changed(self.context)
        if self.builder.quality is not None and self.builder.lacking():
            with folder.telling():
                self.builder.quality.calibrate(
                    self.builder.sources, folder.folder, self.context, begun=bool(folder.rows)
                )
        rows = self.builder.run(self.context)
        with folder.telling():
            write_manifest(folder.folder, rows, self.choices)
            write_croissant(folder.folder, rows)
            write_grid(folder.folder, rows)
        folder.finish()
        return rows


def open_build(options: BuildOptions, context: Context) -> OpenBuild:
    """Build the plugins, and check photos and masks, before anything is made."""
    backgrounds = read_backgrounds(options.backgrounds)
    context = replace(context, seed=options.seed, device=options.device, dtype=options.dtype)
    data: Dataset = build(context, "dataset", options.source, options.data_options).plugin
    classes = choose_classes(options.classes, data.labels, options.source)
    chosen = choose_samples(data, classes, options.per_class, options.limit, options.seed)
    context = context.for_dataset(data)
    segmenter, detector = (_tool(role, options, context) for role in (SEGMENTER, DETECTOR))
    every = choose_samples(data, classes, None, None, options.seed)
    sources = Sources(data, chosen, segmenter, options.side, every)
    size = sources.check(context)
    recipe = Recipe(
        source=options.source,
        backgrounds=backgrounds,
        editor=_editor(options.editor, EDITOR, options, context),
        instruction=options.instruction,
        viewpoint_editor=_editor(options.viewpoint_editor, VIEWPOINT, options, context)
        if options.viewpoint_editor
        else None,
        segmenter=segmenter,
        scales=options.scales,
        keeps=options.keep,
        seed=options.seed,
        licence=options.licence,
    )
    judges = Judges(
        _judge(options, context), detector, data.labels, tuple(each.name for each in backgrounds)
    )
    settings = _settings(options, recipe, data, segmenter) | _fingerprints(judges)
    folder = BuildFolder(options.out, settings)
    quality = Filter(recipe, judges, options.false_drops) if options.judged else None
    builder = Builder(recipe, sources, folder, quality, options.keep_all)
    return OpenBuild(options, context, builder, data.labels, size)


def open_writer(
    tools: Iterable[str],
    tool_options: Iterable[str],
    context: Context,
    source: str | None = None,
    data_options: Iterable[str] | None = None,
) -> tuple[TextGenerator, tuple[str, ...]]:
    """The text generator of `--tool text-generator=SPEC`, and the labels of the source."""
    roles, given = pairs("--tool", tools), by_role(pairs("-T", tool_options))
    for role in (*roles, *given):
        if role != WRITER or WRITER not in roles:
            raise UserError(f"tool role '{role}'", expected=f"--tool {WRITER}=SPEC")
    labels: tuple[str, ...] = ()
    if source is not None:
        data: Dataset = build(context, "dataset", source, pairs("-D", data_options or ())).plugin
        context, labels = context.for_dataset(data), data.labels
    writer = build_tool(context, ROLES[WRITER], roles[WRITER], given.get(WRITER)).plugin
    return writer, labels


def _tool(role: str, options: BuildOptions, context: Context) -> Any:
    """The tool of `--tool ROLE=SPEC`, None without it."""
    if role not in options.tools:
        return None
    spec, own = options.tools[role], options.tool_options.get(role)
    return build_tool(context, ROLES[role], spec, own).plugin


def _judge(options: BuildOptions, context: Context) -> Model | None:
    """The model of `--judge SPEC`."""
    if options.judge is None:
        return None
    given = options.tool_options.get(JUDGE, {})
    model: Model = build(context, "model", options.judge, given).plugin
    return model


def _fingerprints(judges: Judges) -> dict[str, Any]:
    return {
        "judge": judges.model and judges.model.fingerprint,
        "detector": judges.detector and getattr(judges.detector, "fingerprint", "unknown"),
    }


def _settings(
    options: BuildOptions, recipe: Recipe, data: Dataset, segmenter: Any
) -> dict[str, Any]:
    """What all images of a folder have in common; their number is not among it."""
    views = recipe.viewpoint_editor
    return {
        "source": options.source,
        "data": data.fingerprint,
        "backgrounds": {each.name: each.prompt for each in recipe.backgrounds},
        "editor": recipe.editor.fingerprint,
        "viewpoint_editor": views and views.fingerprint,
        "segmenter": options.tools.get(SEGMENTER) and getattr(segmenter, "fingerprint", None),
        "instruction": options.instruction,
        "scales": options.scales,
        "keep": options.keep,
        "side": options.side,
        "licence": options.licence,
        "keep_all": options.keep_all,
        "filter": options.judged,
        "false_drops": options.false_drops,
        "seed": options.seed,
    }


def _editor(spec: str, role: str, options: BuildOptions, context: Context) -> NamedEditor:
    """An image editor; the edits of one that takes its time are kept on the disk."""
    own = options.tool_options.get(role)
    tool = build_tool(context, ROLES["image-editor"], spec, own).plugin
    fingerprint = getattr(tool, "fingerprint", None)
    if not fingerprint:
        raise PluginError(
            f"image editor {spec} has no fingerprint",
            expected="a digest of its weights and options, so that a build can go on",
        )
    quick = getattr(tool, "instant", False)
    pasting = Composite(tool.options, context) if isinstance(tool, Composite) else None
    return NamedEditor(spec, fingerprint, tool if quick else cached_editor(tool, context), pasting)


def _scales(text: str) -> tuple[float, ...]:
    try:
        scales = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        scales = ()
    if not scales or not all(1 < scale <= LARGEST_SCALE for scale in scales):
        raise UserError(
            f"--scales {text}", expected=f"numbers above 1, up to {LARGEST_SCALE:g}: 1.5,2,4,8"
        )
    if len(set(scales)) < len(scales):
        raise UserError(f"--scales {text}", expected="each number once")
    return scales
