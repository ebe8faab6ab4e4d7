"""From photos to a COVAR: each on every background, and each of these images in its variants."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from cuescope_covar_build.drafts import Draft, of_variants, on_background, original, paint
from cuescope_covar_build.files import BuildFolder, file_name
from cuescope_covar_build.filtering import Filter
from cuescope_covar_build.lists import Background
from cuescope_covar_build.manifest import ORIGINAL, Row
from cuescope_covar_build.recipe import Recipe
from cuescope_covar_build.sources import Source, Sources, outline
from cuescope_sdk import Context, Sample

AT_ONCE = 2**21  # pixels of images on backgrounds that are in memory together, without variants
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
        self.recipe, self.sources, self.folder = recipe, sources, folder
        self.quality, self._keep_all = quality, keep_all
        self._names = recipe.names

    def keys(self, sample: Sample) -> list[str]:
        """The keys of the images of a photo, in the order of the manifest."""
        keys = [self._keys_on(sample, background) for background in self.recipe.backgrounds]
        return [_key(sample, None, ORIGINAL), *(key for some in keys for key in some)]

    def lacking(self) -> int:
        """How many images are still to be made."""
        known = self.folder.rows
        return sum(key not in known for s in self.sources.samples() for key in self.keys(s))

    def run(self, context: Context) -> list[Row]:
        """Make what is lacking; all rows, in the order of photos, backgrounds and variants."""
        with (
            context.progress("Building images", self.lacking()) as advance,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            for sample in self.sources.samples():
                if not self.folder.rows.keys() >= set(self.keys(sample)):
                    for made in self._of_photo(sample, pool):
                        advance(made)
        ordered = [key for sample in self.sources.samples() for key in self.keys(sample)]
        # those of an earlier build of more photos stay
        others = sorted(self.folder.rows.keys() - set(ordered))
        return [self.folder.rows[key] for key in (*ordered, *others)]

    def draft(self, source: Source, backgrounds: Sequence[Background]) -> list[Draft]:
        """All images of a photo on these backgrounds, judged."""
        recipe = self.recipe
        firsts = [on_background(recipe, source, background) for background in backgrounds]
        paint(firsts, recipe.editor)
        by_background = [[first, *of_variants(recipe, source, first)] for first in firsts]
        later = [draft for drafts in by_background for draft in drafts[1:]]
        paint(later, recipe.editor)
        if recipe.viewpoint_editor is not None:
            paint(later, recipe.viewpoint_editor)
        if recipe.segmenter is not None:
            for draft in later:
                if draft.mask is None:
                    draft.mask = outline(recipe.segmenter, draft.frame, source.label)
        if self.quality is not None:
            # a variant is judged with its image on the background; a model has threads of its own
            with ThreadPoolExecutor(1 if self.quality.judges.model else THREADS) as pool:
                list(pool.map(partial(self.quality.judge, source), by_background))
        return [draft for drafts in by_background for draft in drafts]

    def _of_photo(self, sample: Sample, pool: ThreadPoolExecutor) -> Iterator[int]:
        """Make the images of a photo, some backgrounds at a time; yields how many were lacking."""
        source, known = self.sources.open(sample), self.folder.rows
        if _key(sample, None, ORIGINAL) not in known:
            self._keep(source, [original(source)], pool)
            yield 1
        lacking = {
            background: sum(key not in known for key in self._keys_on(sample, background))
            for background in self.recipe.backgrounds
        }
        wanted = [background for background, images in lacking.items() if images]
        step = max(1, AT_ONCE // source.mask.size)
        for start in range(0, len(wanted), step):
            chunk = wanted[start : start + step]
            self._keep(source, self.draft(source, chunk), pool)
            yield sum(lacking[background] for background in chunk)

    def _keep(self, source: Source, drafts: Sequence[Draft], pool: ThreadPoolExecutor) -> None:
        """Write files, then the rows that say that they are there."""
        rows = list(pool.map(lambda draft: self._write(source, draft), drafts))
        self.folder.add(rows)

    def _write(self, source: Source, draft: Draft) -> Row:
        recipe, background, editor = self.recipe, draft.background, draft.editor
        place = "/".join(_parts(source.sample, background, draft.variant.name))
        kept = self._keep_all or not draft.dropped
        image = f"images/{place}.png" if kept else ""
        mask = f"masks/{place}.png" if kept and draft.mask is not None else ""
        image_digest = self.folder.write_image(image, draft.image) if image else ""
        mask_digest = ""
        if mask and draft.mask is not None:
            mask_digest = self.folder.write_mask(mask, draft.mask)
        return Row(
            image=image,
            mask=mask,
            key=_key(source.sample, background, draft.variant.name),
            source=recipe.source,
            source_key=source.sample.key,
            group=source.group,
            label=source.label,
            background=ORIGINAL if background is None else background.name,
            subset=draft.variant.subset,
            variant=draft.variant.name,
            parameters=json.dumps(draft.parameters),
            prompt=draft.prompt,
            seed=draft.seed,
            editor=editor.spec if editor else "",
            editor_fingerprint=editor.fingerprint if editor else "",
            licence=source.licence or recipe.licence,
            kept_exactly=draft.variant.subset != "viewpoint",  # `paint` refuses anything else
            dropped=draft.dropped,
            image_digest=image_digest,
            mask_digest=mask_digest,
            **{f"score_{name}": value for name, value in draft.scores.items()},
        )

    def _keys_on(self, sample: Sample, background: Background) -> list[str]:
        return [_key(sample, background, name) for name in self._names]


def _parts(sample: Sample, background: Background | None, name: str) -> tuple[str, ...]:
    places = (ORIGINAL,) if background is None else (file_name(background.name), name)
    return (file_name(sample.key), *places)


def _key(sample: Sample, background: Background | None, name: str) -> str:
    return "--".join(_parts(sample, background, name))  # no slash: it would name a changed sample
