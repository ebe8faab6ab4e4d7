"""Data sets of images with annotations, in the layout that their authors gave them. Extra `media`.

A data set subclasses `ImageFolder` and reads its own layout:

    class MyPhotos(ImageFolder):
        title = "my-photos"
        split_names = ("train", "val")

        def read(self, split):
            rows = read_csv(self.place("table.csv"), Row, self.title)
            items = [ImageItem(r.file, self.root / r.file, (r.name,), label=r.name) for r in rows]
            return Listing(("cat", "dog"), items)
"""

from cuescope_sdk.data._image_folders.dataset import ImageFolder, ImageFolderOptions
from cuescope_sdk.data._image_folders.items import ImageItem, Listing, sample_evenly
from cuescope_sdk.data._image_folders.masks import mask_frame
from cuescope_sdk.data._image_folders.places import (
    first_place,
    folders_in,
    images_in,
    required_place,
)

__all__ = [
    "ImageFolder",
    "ImageFolderOptions",
    "ImageItem",
    "Listing",
    "first_place",
    "folders_in",
    "images_in",
    "mask_frame",
    "required_place",
    "sample_evenly",
]
