"""The quality filter, as a build asks it: drafts become cases, clean composites set limits."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cuescope_covar_build.composite import Composite, CompositeOptions
from cuescope_covar_build.drafts import Draft, of_variants, on_background, paint
from cuescope_covar_build.lists import Background
from cuescope_covar_build.quality import Case, Judges, Thresholds, judge, measure
from cuescope_covar_build.quality.thresholds import BLIND, fit_thresholds
from cuescope_covar_build.recipe import NamedEditor, Recipe
from cuescope_covar_build.sources import Source, Sources
from cuescope_sdk import (
    Context,
    DamagedFileError,
    Frame,
    ImageEdit,
    Sample,
    UserError,
    derive,
    read_sealed,
    write_sealed,
)

LIMITS = "quality.json"
CLEAN_PAIRS = 40  # of a photo and a background, each with its variants, that limits are taken from


class Filter:
    """Scores every draft, and says why one is dropped.

    `thresholds` are set by `calibrate`; before that, drafts are measured and all are kept.
    """

    def __init__(self, recipe: Recipe, judges: Judges, false_drops: float) -> None:
        self.recipe, self.judges, self.false_drops = recipe, judges, false_drops
        self.thresholds: Thresholds | None = None

    def judge(self, source: Source, drafts: Sequence[Draft]) -> None:
        """Give each draft its scores, and the reason why it is dropped."""
        judged = [draft for draft in drafts if draft.mask is not None and draft.mask.any()]
        cases = [as_case(source, draft, self.recipe.editor) for draft in judged]
        if self.thresholds is None:
            for _ in measure(cases, self.judges):
                pass
            return
        for draft, quality in zip(judged, judge(cases, self.thresholds, self.judges), strict=True):
            draft.scores = quality.scores
            draft.dropped = draft.dropped or quality.reason

    def calibrate(
        self, sources: Sources, folder: Path, context: Context, *, begun: bool = False
    ) -> None:
        """Take the limits of this folder, else from clean composites of its photos.

        Raises UserError where those of the folder are not as they were written, and the build has
        `begun`: images that are there were judged by them.
        """
        self.judges = self.judges.usable(context)
        path = folder / LIMITS
        self.thresholds = _kept_thresholds(path, begun=begun)
        if self.thresholds is not None:
            return
        recipe = _clean_recipe(self.recipe, context)
        pairs = _pairs(sources.typical(CLEAN_PAIRS), recipe.backgrounds)
        cases: list[Case] = []
        with context.progress("Measuring clean composites", len(pairs)) as advance:
            measures = []
            for sample, background in pairs:
                source = sources.open(sample)
                some = _clean_cases(recipe, source, background)
                cases += some
                measures += list(measure(some, self.judges))
                if self.recipe.editor.pasting is None:
                    own = _own_background(recipe, source, background)
                    cases += own
                    measures += [
                        {name: value if name in BLIND else None for name, value in each.items()}
                        for each in measure(own, self.judges)
                    ]
                advance(1)
        self.thresholds = fit_thresholds(
            [case.subset for case in cases],
            measures,
            [case.source.key for case in cases],
            self.false_drops,
        )
        text = json.dumps(self.thresholds.to_json(), indent=1) + "\n"
        write_sealed(path, text.encode())
        if self.thresholds.few:
            context.announce(
                f"The quality filter knows {len(cases)} clean images only: its limits are the "
                f"largest of what these show, and more than {self.false_drops:.0%} of good images "
                "may be dropped"
            )


def _kept_thresholds(path: Path, *, begun: bool) -> Thresholds | None:
    """Those that a build has kept, None where it must set them."""
    try:
        content = read_sealed(path, remedy="Build into another folder with --out")
        return Thresholds.from_json(json.loads(content))
    except FileNotFoundError:
        return None
    except DamagedFileError:
        if begun:
            raise
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"covar: {path} cannot be read", remedy="Build into another folder with --out"
        ) from error


def as_case(source: Source, draft: Draft, editor: NamedEditor) -> Case:
    """What the filter is told of a draft."""
    mask = np.zeros(source.mask.shape, bool) if draft.mask is None else draft.mask
    edit, painted = draft.edit, None
    if edit is not None:
        painted = np.ones(mask.shape, bool) if edit.mask is None else edit.mask
    asked = None
    if painted is not None and np.array_equal(painted, ~mask) and editor.pasting is not None:
        # the whole background that it pasted on
        (asked,) = editor.pasting.edit([ImageEdit(draft.base, draft.prompt, None, draft.seed)])
    return Case(
        source=Frame.from_array(source.image),
        source_mask=source.mask,
        edited=draft.frame,
        edited_mask=mask,
        subset=draft.variant.subset,
        base=draft.base,
        background=draft.background.name if draft.background else "",
        label=source.label,
        scale=1 / float(draft.parameters.get("scale", 1.0)),
        geometry=draft.matrix,
        painted=painted,
        asked_background=asked,
    )


def _pairs(
    samples: Sequence[Sample], backgrounds: Sequence[Background]
) -> list[tuple[Sample, Background]]:
    """Of as many photos and backgrounds as can be, each pair once."""
    count, turns = min(CLEAN_PAIRS, len(samples) * len(backgrounds)), len(samples)
    return [
        (samples[n % turns], backgrounds[(n + n // turns) % len(backgrounds)]) for n in range(count)
    ]


def _clean_recipe(recipe: Recipe, context: Context) -> Recipe:
    """Like the recipe, with backgrounds that are pasted, and nothing that could go wrong."""
    clean = replace(recipe, viewpoint_editor=None, seed=derive(recipe.seed, "clean"))
    if (tool := recipe.editor.pasting) is not None:
        return replace(clean, editor=NamedEditor("", tool.fingerprint, tool, tool))
    tool = Composite(CompositeOptions(), context)
    return replace(
        clean,
        editor=NamedEditor("", tool.fingerprint, tool, tool),
        backgrounds=tuple(Background(name=name, prompt=name) for name in tool.names),
        instruction="{background}",
    )


def _clean_cases(recipe: Recipe, source: Source, background: Background) -> list[Case]:
    first = on_background(recipe, source, background)
    paint([first], recipe.editor)
    drafts = [first, *of_variants(recipe, source, first)]
    paint(drafts[1:], recipe.editor)
    cases = [as_case(source, draft, recipe.editor) for draft in drafts if _has_object(draft)]
    # nobody knows where another viewpoint puts the pixels: as if of a turned object
    return cases + [
        replace(case, subset="viewpoint", geometry=None, painted=None, asked_background=None)
        for case in cases
        if case.subset in ("crop", "rotation")
    ]


def _own_background(recipe: Recipe, source: Source, background: Background) -> list[Case]:
    """The photo as it is, and moved: what is usual on a background that no one edited."""
    first = replace(on_background(recipe, source, background), edit=None)
    drafts = [first, *of_variants(recipe, source, first)]
    return [
        as_case(source, draft, recipe.editor)
        for draft in drafts
        if draft.edit is None and _has_object(draft)
    ]


def _has_object(draft: Draft) -> bool:
    return draft.mask is not None and bool(draft.mask.any())
