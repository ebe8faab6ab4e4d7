"""What the words of `cuescope covar build` name, opened."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from cuescope.application import ROLES, build_tool, by_role, pairs
from cuescope_covar_build.building import Builder
from cuescope_covar_build.files import BuildFolder
from cuescope_covar_build.grid import write_grid
from cuescope_covar_build.lists import choose_classes, read_backgrounds
from cuescope_covar_build.options import BuildOptions
from cuescope_covar_build.quality import Filter
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Sources, choose_samples
from cuescope_sdk import (
    Context,
    Dataset,
    Model,
    PluginError,
    TextGenerator,
    UserError,
    nearest,
)
from cuescope_sdk.data import CovarManifest
from cuescope_sdk.editing import cached_editor

EDITOR = "editor"
VIEWPOINT = "viewpoint-editor"
SEGMENTER = "segmenter"
DETECTOR = "detector"
JUDGE = "judge"
WRITER = "text-generator"
LARGEST_SCALE = 16.0


@dataclass(frozen=True)
class OpenBuild:
    """A build that is ready to go on."""

    context: Context
    builder: Builder
    choices: tuple[str, ...]
    size: tuple[int, int]

    def run(self) -> CovarManifest:
        """Make what is lacking, then the manifest."""
        folder = self.builder.folder
        quality = self.builder.quality
        folder.begin()
        # before anything is counted: a damaged image is one that is lacking
        folder.forget_changed(self.context)
        # a complete build judges nothing
        if quality is not None and self.builder.lacking():
            quality.calibrate(self.builder.sources, self.context)
        rows = self.builder.run(self.context)
        manifest = CovarManifest(rows, self.choices)
        with folder.telling():
            manifest.write(folder.folder)
            write_grid(folder.folder, rows)
        # last: a kill before this leaves the journal to go on from
        folder.finish()
        return manifest


def open_build(options: BuildOptions, context: Context) -> OpenBuild:
    """Build the plugins, and check photos and masks, before anything is made.

    Raises UserError for a word that does not fit.
    """
    # words first: a typo is told before anything is opened
    scales = parse_scales(options.scales)
    tools = Tools.of(options)
    backgrounds = read_backgrounds(options.backgrounds)
    context = replace(
        context,
        seed=options.seed,
        device=options.device,
        dtype=options.dtype,
    )
    data: Dataset = context.build(
        "dataset",
        options.source,
        pairs("-D", options.data_option or ()),
    )
    classes = choose_classes(options.classes, data.labels, options.source)
    chosen = choose_samples(
        data,
        classes,
        options.per_class,
        options.limit,
        options.seed,
    )
    # all that could be chosen: limits do not depend on --limit
    every = choose_samples(data, classes, None, None, options.seed)
    context = context.for_dataset(data)
    segmenter = tools.open(SEGMENTER, context)
    detector = tools.open(DETECTOR, context)
    sources = Sources(data, chosen, segmenter, options.side, every)
    # before the editors are opened: a bad mask is told sooner
    size = sources.check(context)
    viewpoint_editor = None
    if options.viewpoint_editor is not None:
        viewpoint_editor = tools.open_editor(VIEWPOINT, context)
    recipe = Recipe(
        source=options.source,
        backgrounds=backgrounds,
        editor=tools.open_editor(EDITOR, context),
        instruction=options.instruction,
        viewpoint_editor=viewpoint_editor,
        segmenter=segmenter,
        scales=scales,
        seed=options.seed,
        licence=options.licence,
    )
    judge: Model | None = None
    if options.judge is not None:
        judge = context.build("model", options.judge, tools.options.get(JUDGE, {}))
    quality = Filter(recipe, options.false_drops, data.labels, judge, detector)
    settings = _settings(options, recipe, data, quality)
    folder = BuildFolder(options.out.expanduser(), settings)
    builder = Builder(
        recipe, sources, folder, quality if options.judged else None, options.keep_all
    )
    return OpenBuild(context, builder, data.labels, size)


def _settings(
    options: BuildOptions,
    recipe: Recipe,
    data: Dataset,
    quality: Filter,
) -> dict[str, Any]:
    """What all images of a folder have in common; their number is not among it."""
    views = recipe.viewpoint_editor
    detector = quality.detector
    return {
        "source": options.source,
        "data": data.fingerprint,
        "backgrounds": {
            background.name: background.prompt for background in recipe.backgrounds
        },
        "editor": recipe.editor.fingerprint,
        "viewpoint_editor": views and views.fingerprint,
        "segmenter": getattr(recipe.segmenter, "fingerprint", None),
        "instruction": options.instruction,
        "scales": recipe.scales,
        "side": options.side,
        "licence": options.licence,
        "keep_all": options.keep_all,
        "filter": options.judged,
        "false_drops": options.false_drops,
        "seed": options.seed,
        "judge": quality.model and quality.model.fingerprint,
        "detector": detector and getattr(detector, "fingerprint", "unknown"),
    }


@dataclass(frozen=True)
class Tools:
    """The SPEC of each role that is filled, and the options by role."""

    specs: dict[str, str]
    options: dict[str, dict[str, str]]

    @classmethod
    def of(cls, options: BuildOptions) -> Self:
        """Raises UserError for a role that a build has not."""
        named = {
            EDITOR: options.editor,
            VIEWPOINT: options.viewpoint_editor,
            JUDGE: options.judge,
        }
        specs = pairs("--tool", options.tool or ())
        for role in specs:
            if role not in (SEGMENTER, DETECTOR):
                raise UserError(
                    f"--tool {role}",
                    expected=f"{SEGMENTER} or {DETECTOR}",
                    remedy=f"--{role} SPEC" if role in named else None,
                )
        specs |= {role: spec for role, spec in named.items() if spec}
        by_roles = by_role(pairs("-T", options.tool_option or ()))
        for role in by_roles:
            if role not in specs:
                raise UserError(
                    f"-O tool.{role}: no tool has this role here",
                    remedy=nearest(role, specs),
                )
        return cls(specs, by_roles)

    def open(self, role: str, context: Context, kind: str = "") -> Any:
        """What fills the role, None where nobody asked for it."""
        if role not in self.specs:
            return None
        return build_tool(
            context,
            ROLES[kind or role],
            self.specs[role],
            self.options.get(role),
        ).plugin

    def open_editor(self, role: str, context: Context) -> NamedEditor:
        """An image editor; the edits of one that takes its time are kept on the disk."""
        spec = self.specs[role]
        tool = self.open(role, context, "image-editor")
        fingerprint = getattr(tool, "fingerprint", None)
        if not fingerprint:
            raise PluginError(
                f"image editor {spec} has no fingerprint",
                expected="a digest of its weights and options, so that a build can go on",
            )
        if not getattr(tool, "instant", False):
            tool = cached_editor(tool, context)
        return NamedEditor(spec, fingerprint, tool)


def parse_scales(text: str) -> tuple[float, ...]:
    """Raises UserError for what is no list of different numbers above 1."""
    try:
        scales = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        scales = ()
    if not scales or not all(1 < scale <= LARGEST_SCALE for scale in scales):
        raise UserError(
            f"--scales {text}",
            expected=f"numbers above 1, up to {LARGEST_SCALE:g}: 1.5,2,4,8",
        )
    if len(set(scales)) < len(scales):
        raise UserError(f"--scales {text}", expected="each number once")
    return scales


def open_writer(
    tools: Iterable[str],
    tool_options: Iterable[str],
    context: Context,
    source: str | None = None,
    data_options: Iterable[str] | None = None,
) -> tuple[TextGenerator, tuple[str, ...]]:
    """The text generator of `--tool text-generator=SPEC`, and the labels of the source."""
    specs = pairs("--tool", tools)
    options = by_role(pairs("-T", tool_options))
    # an option without its tool is a mistake too
    for role in (*specs, *options):
        if role != WRITER or WRITER not in specs:
            raise UserError(f"tool role '{role}'", expected=f"--tool {WRITER}=SPEC")
    labels: tuple[str, ...] = ()
    if source is not None:
        data: Dataset = context.build(
            "dataset",
            source,
            pairs("-D", data_options or ()),
        )
        context = context.for_dataset(data)
        labels = data.labels
    return Tools(specs, options).open(WRITER, context), labels
