"""The quality filter, as a build asks it: drafts become cases, clean composites set limits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cuescope_covar_build.composite import Composite, CompositeOptions
from cuescope_covar_build.drafts import Draft, on_background, paint, with_variants
from cuescope_covar_build.lists import Background
from cuescope_covar_build.quality import Case, Judges, Thresholds, judge, measure
from cuescope_covar_build.quality.cases import Scores
from cuescope_covar_build.quality.measures import MEASURES
from cuescope_covar_build.quality.thresholds import fit_thresholds
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
from cuescope_sdk.report import count_of

LIMITS = "quality.json"
CLEAN_PAIRS = 40  # of a photo and a background, each with its variants, that limits are taken from


class Filter:
    """Scores every draft, and says why one is dropped.

    `thresholds` are set by `calibrate`; before that, drafts are measured and all are kept.
    """

    def __init__(self, recipe: Recipe, judges: Judges, false_drops: float) -> None:
        self.recipe = recipe
        self.judges = judges
        self.false_drops = false_drops
        self.thresholds: Thresholds | None = None

    def judge(self, source: Source, drafts: Sequence[Draft]) -> None:
        """Give each draft its scores, and the reason why it is dropped."""
        # a mask without the object is refused by what compares pixels
        shown = [draft for draft in drafts if draft.shows_object]
        cases = [as_case(source, draft, self.recipe.editor) for draft in shown]
        if self.thresholds is None:
            # measured all the same: the rehearsal of a plan is to take as long as a build
            list(measure(cases, self.judges))
            return
        qualities = judge(cases, self.thresholds, self.judges)
        for draft, quality in zip(shown, qualities, strict=True):
            draft.scores = quality.scores
            draft.dropped = draft.dropped or quality.reason

    def calibrate(
        self,
        sources: Sources,
        folder: Path,
        context: Context,
        *,
        begun: bool = False,
    ) -> None:
        """Take the limits of this folder, else from clean composites of its photos.

        Raises UserError where those of the folder are not as they were written, and the build has
        `begun`: images that are there were judged by them.
        """
        self.judges = self.judges.usable(context)
        path = folder / LIMITS
        # limits that are there stay: all images of a folder are judged by the same
        self.thresholds = read_thresholds(path, begun=begun)
        if self.thresholds is not None:
            return
        recipe = _clean_recipe(self.recipe, context)
        pairs = _pairs(sources.typical(CLEAN_PAIRS), recipe.backgrounds)
        cases: list[Case] = []
        measures: list[Scores] = []
        with context.progress("Measuring clean composites", len(pairs)) as advance:
            for sample, background in pairs:
                source = sources.open(sample)
                clean = _clean_cases(recipe, source, background)
                cases += clean
                measures += measure(clean, self.judges)
                # composites are on drawn backgrounds then: photos show what is usual of real ones
                if self.recipe.editor.pasting is None:
                    unedited = _unedited_cases(recipe, source, background)
                    cases += unedited
                    for measured in measure(unedited, self.judges):
                        # others would call it a fault that the background is the source's own
                        measures.append(_blind(measured))
                advance(1)
        self.thresholds = fit_thresholds(
            [case.subset for case in cases],
            measures,
            [case.source.key for case in cases],
            self.false_drops,
        )
        write_sealed(path, self.thresholds.to_json())
        if self.thresholds.few:
            context.announce(
                f"The quality filter knows {count_of(len(cases), 'clean images')} only: its "
                "limits are the "
                f"largest of what these show, and more than {self.false_drops:.0%} of good images "
                "may be dropped"
            )


def read_thresholds(path: Path, *, begun: bool) -> Thresholds | None:
    """Those that a build has kept, None where it must set them."""
    remedy = "Build into another folder with --out"
    try:
        return Thresholds.from_json(read_sealed(path, remedy=remedy))
    except FileNotFoundError:
        return None
    except DamagedFileError:
        if begun:
            raise
        # no image was judged by them, so they are set anew
        return None
    except ValueError as error:
        raise UserError(f"covar: {path} cannot be read", remedy=remedy) from error


def as_case(source: Source, draft: Draft, editor: NamedEditor) -> Case:
    """What the filter is told of a draft."""
    mask = draft.mask
    if mask is None:
        mask = np.zeros_like(source.mask)
    painted = None
    asked = None
    if draft.edit is not None:
        painted = draft.edit.mask
        # an editor without a mask may paint anywhere
        if painted is None:
            painted = np.ones_like(mask)
        if editor.pasting is not None and np.array_equal(painted, ~mask):
            # the whole background that it pasted on
            everywhere = ImageEdit(draft.base, draft.prompt, None, draft.seed)
            [asked] = editor.pasting.edit([everywhere])
    return Case(
        source=Frame.from_array(source.image),
        source_mask=source.mask,
        edited=draft.frame,
        edited_mask=mask,
        subset=draft.variant.subset,
        base=draft.base,
        background=draft.background.name if draft.background else "",
        label=source.label,
        # a build says how many times smaller, a case how large
        scale=1 / draft.parameters.get("scale", 1.0),
        geometry=draft.matrix,
        painted=painted,
        asked_background=asked,
    )


def _blind(scores: Scores) -> Scores:
    """Those that look at the image alone."""
    return {name: value for name, value in scores.items() if MEASURES[name].blind}


def _pairs(
    samples: Sequence[Sample], backgrounds: Sequence[Background]
) -> list[tuple[Sample, Background]]:
    """Of as many photos and backgrounds as can be, each pair once."""
    pairs = []
    for number in range(min(CLEAN_PAIRS, len(samples) * len(backgrounds))):
        turn, photo = divmod(number, len(samples))
        # + turn: else a photo could meet the same background in every round
        background = (number + turn) % len(backgrounds)
        pairs.append((samples[photo], backgrounds[background]))
    return pairs


def _clean_recipe(recipe: Recipe, context: Context) -> Recipe:
    """Like the recipe, with backgrounds that are pasted, and nothing that could go wrong."""
    pasting = recipe.editor.pasting
    if pasting is None:
        pasting = Composite(CompositeOptions(), context)
        drawn = [Background(name=name, prompt=name) for name in pasting.names]
        recipe = replace(
            recipe,
            backgrounds=tuple(drawn),
            instruction="{background}",
        )
    return replace(
        recipe,
        editor=NamedEditor("", pasting.fingerprint, pasting, pasting),
        # nobody knows whether a generated view is a clean one
        viewpoint_editor=None,
        # other draws than those of the images that are judged
        seed=derive(recipe.seed, "clean"),
    )


def _clean_cases(recipe: Recipe, source: Source, background: Background) -> list[Case]:
    first = on_background(recipe, source, background)
    paint([first], recipe.editor)
    drafts = with_variants(recipe, source, first)
    paint(drafts[1:], recipe.editor)
    shown = [draft for draft in drafts if draft.shows_object]
    cases = [as_case(source, draft, recipe.editor) for draft in shown]
    turned = [case for case in cases if case.subset in ("crop", "rotation")]
    # nobody knows where another viewpoint puts the pixels: as if of a turned object
    for case in turned:
        view = replace(
            case,
            subset="viewpoint",
            geometry=None,
            painted=None,
            asked_background=None,
        )
        cases.append(view)
    return cases


def _unedited_cases(
    recipe: Recipe,
    source: Source,
    background: Background,
) -> list[Case]:
    """The photo as it is, and moved: what is usual on a background that no one edited."""
    first = replace(on_background(recipe, source, background), edit=None)
    drafts = with_variants(recipe, source, first)
    # what needs no painting: its pixels are the photo's own
    unpainted = [draft for draft in drafts if draft.edit is None]
    shown = [draft for draft in unpainted if draft.shows_object]
    return [as_case(source, draft, recipe.editor) for draft in shown]
