"""From photos to a COVAR: each on every background, and each of these images in its variants."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

from cuescope_covar_build.drafts import (
    Draft,
    on_background,
    original,
    paint,
    with_variants,
)
from cuescope_covar_build.files import BuildFolder, file_name
from cuescope_covar_build.lists import Background
from cuescope_covar_build.quality import Filter
from cuescope_covar_build.recipe import Recipe
from cuescope_covar_build.sources import Source, Sources, outline
from cuescope_sdk import Context, Sample
from cuescope_sdk.data import CovarManifest, CovarRow

ORIGINAL = CovarManifest.ORIGINAL
# pixels of images on backgrounds that are in memory together, without variants
AT_ONCE = 2**21
# in keys: a slash would name a changed sample
SEPARATOR = "--"
THREADS = 2  # that judge images and write files; OpenCV and zlib let go of the lock


class Builder:
    """Makes what a folder lacks. A kill loses the images of a few backgrounds and no more.

    Without `quality` no image is judged, and all are kept.
    """

    def __init__(
        self,
        recipe: Recipe,
        sources: Sources,
        folder: BuildFolder,
        quality: Filter | None = None,
        keep_all: bool = False,
    ) -> None:
        self.recipe = recipe
        self.sources = sources
        self.folder = folder
        self.quality = quality
        self._keep_all = keep_all
        # the property draws example variants each time that it is read
        self._names = recipe.names

    def keys(self, sample: Sample) -> list[str]:
        """The keys of the images of a photo, in the order of the manifest."""
        keys = [_key(sample)]
        for background in self.recipe.backgrounds:
            keys += self._keys_on(sample, background)
        return keys

    def lacking(self) -> int:
        """How many images are still to be made."""
        lacking = 0
        for sample in self.sources.samples():
            lacking += self.count_lacking(self.keys(sample))
        return lacking

    def run(self, context: Context) -> list[CovarRow]:
        """Make what is lacking; all rows, in the order of photos, backgrounds and variants."""
        rows = self.folder.rows
        ordered: list[str] = []
        with (
            context.progress("Building images", self.lacking()) as advance,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            for sample in self.sources.samples():
                keys = self.keys(sample)
                # of a complete photo too: the manifest has all rows
                ordered += keys
                if self.count_lacking(keys):
                    for made in self._make_images(sample, pool):
                        advance(made)
        # those of an earlier build of more photos stay
        others = sorted(rows.keys() - ordered)
        return [rows[key] for key in (*ordered, *others)]

    def draft(self, source: Source, backgrounds: Sequence[Background]) -> list[Draft]:
        """All images of a photo on these backgrounds, judged."""
        recipe = self.recipe
        firsts = [
            on_background(recipe, source, background) for background in backgrounds
        ]
        paint(firsts, recipe.editor)
        # after painting: a variant starts from the pixels of its image
        groups = [with_variants(recipe, source, first) for first in firsts]
        variants: list[Draft] = []
        for group in groups:
            # without the first, which is painted already
            variants += group[1:]
        paint(variants, recipe.editor)
        if recipe.viewpoint_editor is not None:
            paint(variants, recipe.viewpoint_editor)
        if recipe.segmenter is not None:
            for draft in variants:
                # a viewpoint only: other variants carry the mask through their geometry
                if draft.mask is None:
                    draft.mask = outline(recipe.segmenter, draft.frame, source.label)
        if self.quality is not None:
            # a variant is judged with its image on the background; a model has threads of its own
            threads = 1 if self.quality.model else THREADS
            with ThreadPoolExecutor(threads) as pool:
                # list: an error in a thread is raised here
                list(pool.map(partial(self.quality.judge, source), groups))
        return list(chain.from_iterable(groups))

    def _make_images(self, sample: Sample, pool: ThreadPoolExecutor) -> Iterator[int]:
        """Make the images of a photo, some backgrounds at a time; yields how many were lacking."""
        source = self.sources.open(sample)
        if self.count_lacking([_key(sample)]):
            self._keep(source, [original(source)], pool)
            yield 1
        wanted = {}
        for background in self.recipe.backgrounds:
            images = self.count_lacking(self._keys_on(sample, background))
            if images:
                wanted[background] = images
        backgrounds = list(wanted)
        # one background at least, however large the photo
        step = max(1, AT_ONCE // source.mask.size)
        for start in range(0, len(backgrounds), step):
            chunk = backgrounds[start : start + step]
            self._keep(source, self.draft(source, chunk), pool)
            yield sum(wanted[background] for background in chunk)

    def _keep(
        self,
        source: Source,
        drafts: Sequence[Draft],
        pool: ThreadPoolExecutor,
    ) -> None:
        """Write files, then the rows that say that they are there."""
        # list: an error in a thread is raised before any row says that its file is there
        rows = list(pool.map(partial(self._write, source), drafts))
        self.folder.add(rows)

    def _write(self, source: Source, draft: Draft) -> CovarRow:
        parts = _parts(source.sample, draft.background, draft.variant.name)
        name = "/".join(parts) + ".png"
        image = mask = image_digest = mask_digest = ""
        # of a dropped image only the row stays
        if self._keep_all or not draft.dropped:
            image = f"images/{name}"
            image_digest = self.folder.write_picture(image, draft.image)
            if draft.mask is not None:
                mask = f"masks/{name}"
                mask_digest = self.folder.write_picture(mask, draft.mask)
        background = draft.background.name if draft.background else ORIGINAL
        editor = draft.editor
        scores = {f"score_{check}": score for check, score in draft.scores.items()}
        return CovarRow(
            image=image,
            mask=mask,
            key=SEPARATOR.join(parts),
            source=self.recipe.source,
            source_key=source.sample.key,
            group=source.group,
            label=source.label,
            background=background,
            subset=draft.variant.subset,
            variant=draft.variant.name,
            parameters=json.dumps(draft.parameters),
            prompt=draft.prompt,
            seed=draft.seed,
            editor=editor.spec if editor else "",
            editor_fingerprint=editor.fingerprint if editor else "",
            licence=source.licence or self.recipe.licence,
            # `paint` refuses anything else
            kept_exactly=draft.variant.subset != "viewpoint",
            dropped=draft.dropped,
            image_digest=image_digest,
            mask_digest=mask_digest,
            **scores,
        )

    def _keys_on(self, sample: Sample, background: Background) -> list[str]:
        return [_key(sample, background, name) for name in self._names]

    def count_lacking(self, keys: Sequence[str]) -> int:
        """How many of these images are still to be made."""
        return len(set(keys) - self.folder.rows.keys())


def _parts(sample: Sample, background: Background | None, name: str) -> list[str]:
    photo = file_name(sample.key)
    if background is None:
        return [photo, ORIGINAL]
    return [photo, file_name(background.name), name]


def _key(
    sample: Sample,
    background: Background | None = None,
    name: str = ORIGINAL,
) -> str:
    # without a background it is the photo itself
    return SEPARATOR.join(_parts(sample, background, name))
