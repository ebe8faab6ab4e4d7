"""Images that are found become samples; what is left out is said, or too much."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from PIL import Image
from pydantic import Field

from cuescope_core.trust.risks import Names, Words
from cuescope_sdk import Context, Frame, Options, Sample, UserError, digest, nearest
from cuescope_sdk.data._groups import Grouping
from cuescope_sdk.data._layouts import Layout, first_place
from cuescope_sdk.data._media.files import kind_of
from cuescope_sdk.data._media.frames import Probe, load_image
from cuescope_sdk.data._media.unread import unread_beside, why_unread
from cuescope_sdk.data._own_files import typed_folders
from cuescope_sdk.data._text_files import TextFile
from cuescope_sdk.models._refusals import refuse_unknown


@dataclass(frozen=True, slots=True)
class ImageItem:
    """A sample to be.

    `classes` are those of the data set that the image belongs to, or that it shows; they are its
    annotation "objects" where `annotations` gives no other. `masks` are image files by the name
    of what is not black in them. `annotations` are plain values, which enter the fingerprint.
    `group` is what was drawn independently (a person, an original image), None where the authors'
    files do not know. `earlier` are images that are shown before it, the oldest first.
    """

    key: str
    path: Path
    classes: tuple[str, ...]
    label: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    masks: Mapping[str, Path] = field(default_factory=dict)
    group: str | None = None
    earlier: tuple[Path, ...] = ()

    @property
    def images(self) -> tuple[Path, ...]:
        """Images of a sample, in the order of time."""
        return (*self.earlier, self.path)

    @property
    def files(self) -> tuple[Path, ...]:
        """Its images and masks."""
        return (*self.images, *self.masks.values())


def sample_evenly(items: Sequence[ImageItem], per_class: int) -> list[ImageItem]:
    """So many items of each class, evenly over all that it has; their order stays.

    An image of several classes may be there for another one's sake.
    """
    by_class: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        # images without a class are thinned out as one class
        for name in item.classes or ("",):
            by_class.setdefault(name, []).append(index)
    # not the first ones: files are often sorted by source or difficulty
    kept = set[int]()
    for indices in by_class.values():
        parts = Probe.sample_indices(len(indices), min(per_class, len(indices)))
        kept.update(indices[part] for part in parts)
    return [items[index] for index in sorted(kept)]


# ------------------------------------------------------------------------------------------ places


def required_place(root: Path, title: str, *paths: str) -> Path:
    """The first of these paths under `root` that exists; raises UserError where none does."""
    path = first_place(root, *paths)
    if path is not None:
        return path
    if not root.is_dir():
        raise UserError(
            f"{title}: no such folder",
            expected=f"a folder with {paths[0]}",
            got=f"'{root}'",
            remedy=nearest(root.name, _names(root.parent)),
        )
    missing = root / paths[0]
    raise UserError(
        f"{title}: no {missing.name}",
        expected=f"{' or '.join(paths)} in {root}",
        remedy=nearest(missing.name, _names(missing.parent) or _names(root)),
    )


@dataclass(frozen=True)
class MediaFolder:
    """Entries right in a folder, by name; hidden files and folders are passed over."""

    path: Path

    def images(self) -> list[Path]:
        """The image files."""
        images = []
        for name in _names(self.path):
            path = self.path / name
            # what a link names is not opened before it is known to lie in the data
            if kind_of(path) == "image" and (
                path.suffix or path.is_symlink() or why_unread(path) is None
            ):
                images.append(path)
        return images

    def folders(self) -> list[Path]:
        """The folders."""
        paths = [self.path / name for name in _names(self.path)]
        return [path for path in paths if path.is_dir()]


def _names(folder: Path) -> list[str]:
    """Names in a folder, in order; none where there is no such folder."""
    try:
        # file systems list in any order, and the order of samples is part of an audit
        return sorted(
            entry.name for entry in folder.iterdir() if not entry.name.startswith(".")
        )
    except OSError:
        return []


# ------------------------------------------------------------------------------------------- masks


def mask_frame(mask: Probe) -> Frame:
    """A mask file as a frame: white wherever the file is not black."""
    return Frame(
        digest("mask", mask.digest), partial(load_mask, mask.path, mask.digest)
    )


def load_mask(path: Path, content: str) -> Image.Image:
    """White on black, RGB, of a file with this digest."""
    # authors use 1, 255 or a colour for what is meant
    shown = np.asarray(load_image(path, content, turned=False)).any(axis=2)
    return Image.fromarray(shown.astype(np.uint8) * 255).convert("RGB")


# ----------------------------------------------------------------------------------------- dataset


class ImageFolderOptions(Options):
    """Where the files are, and which of them are opened."""

    argument = "path"

    path: Path = Field(
        description="the folder of the data set, as its authors lay it out"
    )
    # it may name a folder of the data, and must not lead out of it (docs/adr/0021)
    split: Annotated[str, Names.part()] = Field(
        "val", description="which split to show"
    )
    classes: Annotated[tuple[str, ...] | None, Words()] = Field(
        None, description="only these classes: NAME,NAME; other images are never opened"
    )
    per_class: int | None = Field(
        None,
        ge=1,
        description="open so many images a class, spread evenly over its files",
    )
    max_missing: float = Field(
        0.01,
        ge=0,
        le=1,
        description="share of images that may be missing or unreadable",
    )
    # an expression can be made to run for hours: from elsewhere plain text alone is taken
    group: Annotated[str | None, Names.pattern()] = Field(
        None,
        description="which images are of one source: a regular expression whose one capturing "
        "group names it in the path, such as (.*)_frame; default what the authors' files say",
    )


class ImageFolder(Layout):
    """One sample an image that is there and can be decoded, built when it is asked for.

    A subclass names itself (`title`) and its splits, and reads its layout with its `labels`; where
    it gives its items a group, it gives all of them one, and `group_source` says what that is.
    Every image that is kept by `classes` and `per_class` is decoded once and remembered by size
    and time of change.
    Others are left out and counted in `facts`. Images are turned as their EXIF says; those with
    masks are not, nor any where `turned` is False: boxes and masks are of the stored pixels, which
    is what their authors' readers (pycocotools, torchvision) show. Raises UserError for what is
    not in the authors' layout, and BadDataError where more than `max_missing` of the images are
    left out.
    """

    Options: ClassVar[type[Options]] = ImageFolderOptions
    options: ImageFolderOptions
    split_names: ClassVar[tuple[str, ...]] = ("train", "val")
    turned: ClassVar[bool] = True
    group_source: ClassVar[str] = "original image"

    def __init__(self, options: ImageFolderOptions, context: Context) -> None:
        super().__init__(options, context)
        items = list(self.read(options.split))
        self.labels = self._choose_labels(self.labels)
        if options.classes is not None:
            items = [
                item for item in items if self.concerns(item, frozenset(self.labels))
            ]
        if options.per_class is not None:
            items = sample_evenly(items, options.per_class)
        good, left_out = self.keep_shown(
            items,
            "image",
            typed_folders(options),
            f"They are looked for in {self.root}",
        )
        self.items = self._group(good)
        classes = f"{len(self.labels):,} class{'es' * (len(self.labels) != 1)}"
        self.facts["images"] = (
            f"{len(self.items):,} of {classes}, split {options.split}"
        )
        self.facts |= left_out
        if unread := unread_beside(item.path for item in self.items).in_words():
            self.facts["not read"] = unread

    # ------------------------------------------------------------------- what a subclass gives

    def read(self, split: str) -> Iterable[ImageItem]:
        """The images of a split in a fixed order; sets `labels`, and may add to `facts`."""
        raise NotImplementedError

    def concerns(self, item: ImageItem, classes: frozenset[str]) -> bool:
        """True if an image is opened for the sake of these classes alone."""
        return not classes.isdisjoint(item.classes)

    def annotations(self, item: ImageItem) -> Mapping[str, Any]:
        """Annotations of a sample; override it for those that are costly to make."""
        return item.annotations

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers that a sample offers."""
        return self.labels

    def place(self, *paths: str, root: Path | None = None) -> Path:
        """The first of these paths in PATH, or `root`, that exists.

        Raises UserError where none does.
        """
        return required_place(root or self.root, self.title, *paths)

    def file(self, *paths: str) -> TextFile:
        """The first of these text files that exists; raises UserError where none does."""
        return TextFile(self.place(*paths), self.title)

    # ------------------------------------------------------------------------------ as a data set

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything that a sample shows."""
        shown = []
        for item in self.items:
            masks = [
                (name, self.probes[file].digest) for name, file in item.masks.items()
            ]
            image = self.probes[item.path].digest
            more = [] if item.group is None else [item.group]
            more += [self.probes[file].digest for file in item.earlier]
            content = (
                item.key,
                item.classes,
                item.label,
                item.annotations,
                masks,
                image,
                *more,
            )
            shown.append(content)
        return digest(self.title, self.options.split, self.labels, shown)

    def __len__(self) -> int:
        return len(self.items)

    def group_of(self, index: int) -> str | None:
        """The group of an image."""
        return self.items[index].group

    def __getitem__(self, index: int) -> Sample:
        item = self.items[index]
        probes = self.probes
        turned = self.turned and not item.masks
        base: dict[str, Any] = {"split": self.options.split, "objects": item.classes}
        if item.masks:
            masks = item.masks.items()
            base["masks"] = {name: mask_frame(probes[file]) for name, file in masks}
        frames = [probes[file].image(turned=turned) for file in item.images]
        return Sample(
            key=item.key,
            frames=tuple(frames),
            choices=self.choices,
            label=item.label,
            group=item.group,
            annotations={**base, **self.annotations(item)},
        )

    # ------------------------------------------------------------------------------ what is there

    def _group(self, items: list[ImageItem]) -> list[ImageItem]:
        """The items with their groups by the option's rule, where there is one; says how many."""
        rule = self.options.group
        if rule is None:
            groups = [item.group for item in items if item.group is not None]
            grouping = Grouping(groups, self.group_source)
        else:
            keys = [item.key for item in items]
            grouping = Grouping.by_rule(rule, keys, keys, self.title)
            for index, group in enumerate(grouping.groups):
                items[index] = replace(items[index], group=group)
        if grouping.groups:
            self.facts["groups"] = grouping.describe([item.label for item in items])
        return items

    def _choose_labels(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """The labels, or those that `classes` names, in their own order."""
        if self.options.classes is None:
            return labels
        for name in self.options.classes:
            refuse_unknown(self.title, "class", name, labels)
        return tuple(label for label in labels if label in self.options.classes)
