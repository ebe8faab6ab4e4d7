"""Data sets of the Hugging Face hub, or local repositories: `hf:REPO[:SPLIT]`.

Rows are streamed, so that nothing is downloaded but what is shown; images are kept by content.
https://huggingface.co/docs/datasets/stream
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from cuescope_folder.columns import Columns, choose_columns
from cuescope_folder.copies import Copies, Record
from cuescope_folder.dataset import FileSamples, Found
from cuescope_folder.layout import canonical_split
from cuescope_folder.manifest import ManifestItems
from cuescope_folder.options import SampleOptions
from cuescope_folder.repository import Repository
from cuescope_folder.roots import Roots
from cuescope_sdk import Names, UserError, Words, digest, how_to_install, nearest
from cuescope_sdk.logs import Manifest
from cuescope_sdk.models import require_hub

PREFERRED = ("test", "val")  # splits, where none is named
COMMIT = re.compile(r"[0-9a-f]{40}")


class HuggingFaceOptions(SampleOptions):
    """Which data set, and what its columns are; columns that are not named are guessed."""

    argument = "source"

    source: Annotated[str, Names.repository()] = Field(
        description="REPO[:SPLIT]: a hub id (cifar10:test) or a folder (./data)"
    )
    config: Annotated[str | None, Names.part()] = Field(
        None, description="configuration (subset), where there are several"
    )
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit; default: main"
    )
    image: Annotated[str | None, Words()] = Field(
        None, description="column of images or videos"
    )
    label: Annotated[str | None, Words()] = Field(
        None, description="column of labels, or of right answers"
    )
    question: Annotated[str | None, Words()] = Field(
        None, description="column of questions"
    )
    rows: PositiveInt | None = Field(None, description="only so many of the first rows")

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns that are named, by what they are."""
        return {"image": self.image, "label": self.label, "question": self.question}

    @property
    def place(self) -> tuple[str, str | None]:
        """The repository, and the split."""
        repository, colon, split = self.source.rpartition(":")
        # a slash after the colon: an address, or a path of Windows
        if not colon or "/" in split or "\\" in split:
            return self.source, self.split
        return repository, self.split or split


class HuggingFace(FileSamples):
    """The rows of one split, each with an image or a video.

    The group of a row is as in `FileSamples`: by the option `group` or a column.
    """

    Options = HuggingFaceOptions
    options: HuggingFaceOptions

    def find(self) -> Found:
        """The rows, streamed once for each revision."""
        options = self.options
        copies = Copies(self.context)
        repository, wanted = options.place
        source = _datasets()
        folder = Path(repository).expanduser()
        root = folder if folder.is_dir() else None
        # pinned to a commit: `main` may move while it is read
        revision = _revision(repository, root, options.revision)
        pinned = {"revision": revision} if root is None else {}
        own = Repository(repository, root, revision, Roots().with_typed(options.roots))
        with _one_line(repository):
            # before the library looks for them
            own.require_own_links()
            config = _config(source, repository, options.config, pinned)
            own.require_known_kind(
                source.load_dataset_builder(repository, config, **pinned)
            )
            splits = source.get_dataset_split_names(repository, config, **pinned)
            split = _choose_split(repository, splits, wanted)
            data = source.load_dataset(
                repository,
                config,
                split=split,
                streaming=True,
                **pinned,
            )
            # without declared types the library looks at the first rows
            features = data.features or data._resolve_features().features
            columns = choose_columns(source, repository, features, options.columns)
            for name in columns.files:
                # undecoded: the bytes are kept as they were stored
                data = data.cast_column(name, type(features[name])(decode=False))
            stamp = digest(
                "hf",
                repository,
                revision,
                config,
                split,
                vars(columns),
                options.rows,
            )
            records = copies.read_once(
                stamp, lambda: self._records(data, repository, columns, copies, own)
            )
        if not records:
            raise UserError(f"hf: {repository} has no rows in split {split}")
        manifest = Manifest.of_rows(
            (record.location, record.cells | {"split": split}) for record in records
        )
        read = ManifestItems(manifest, repository, None, options.group, copies.files)
        chosen = "" if wanted else " (guessed)"
        facts = pinned | {"split": split + chosen, "columns": columns.words}
        return Found(
            Path.cwd(),
            read.items,
            read.paths.unread,
            facts,
            columns.names,
            read,
            # of a folder the content alone counts
            (*pinned.values(), split),
        )

    def _records(
        self,
        data: Iterable[Mapping[str, Any]],
        repository: str,
        columns: Columns,
        copies: Copies,
        own: Repository,
    ) -> Iterator[Record]:
        """The cells that a manifest would have, with names in place of images."""
        # 0: nobody knows how many rows a stream has
        total = self.options.rows or 0
        with self.context.progress("Reading rows", total) as advance:
            for number, cells in enumerate(islice(data, self.options.rows)):
                named = columns.cells(cells, f"row {number}")
                for column, role in columns.files.items():
                    if cells[column] is None:
                        continue
                    content = own.content(
                        cells[column], f"hf: row {number}: '{column}'"
                    )
                    # of a path the name only: it may be one on its author's machine
                    given = str(cells[column].get("path") or "").rpartition("/")[2]
                    # with the number of the row: names of images repeat
                    named[role] = f"row-{number}/{given or column}"
                    copies.add(named[role], content)
                yield Record(location=f"{repository} row {number}", cells=named)
                advance(1)


def _datasets() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise UserError(
            "hf needs the package datasets",
            got=str(error),
            remedy=how_to_install("cuescope-folder[hf]"),
        ) from error
    return datasets


def _revision(repository: str, root: Path | None, wanted: str | None) -> str:
    """The commit of a hub's repository; of a local one a digest of its files' sizes and times."""
    if root is not None:
        stamps = []
        for file in sorted(root.rglob("*")):
            # of sizes and times: contents would be read whole at each start
            if file.is_file():
                status = file.stat()
                stamps.append(
                    (str(file.relative_to(root)), status.st_size, status.st_mtime_ns)
                )
        return digest(stamps)
    if repository.startswith((".", "/", "~")):
        raise UserError(f"hf: no folder {repository}")
    # a commit never moves, so the hub is not asked
    if wanted and COMMIT.fullmatch(wanted):
        return wanted
    require_hub("hf", repository, "Connect, or give a folder: hf:./data")
    with _one_line(repository):
        import huggingface_hub

        info = huggingface_hub.HfApi().dataset_info(repository, revision=wanted)
        return str(info.sha)


def _config(
    source: Any,
    repository: str,
    wanted: str | None,
    pinned: Mapping[str, str],
) -> str:
    names = source.get_dataset_config_names(repository, **pinned)
    if wanted is None and len(names) > 1 and "default" not in names:
        raise UserError(
            f"hf: {repository} has several configurations",
            expected=f"-O data.config={names[0]}, or {', '.join(names[1:8])}",
        )
    if wanted is not None and wanted not in names:
        raise UserError(
            f"hf: {repository} has no configuration '{wanted}'",
            expected=f"one of {', '.join(names[:8])}",
            remedy=nearest(wanted, names),
        )
    return wanted or ("default" if "default" in names else str(names[0]))


def _choose_split(repository: str, splits: list[str], wanted: str | None) -> str:
    """The split of this name ("val" is "validation"); without a name the one that is held out."""
    by_name = {canonical_split(split): split for split in splits}
    if wanted is None:
        for name in PREFERRED:
            if name in by_name:
                return by_name[name]
        return splits[0]
    if wanted in splits:
        return wanted
    if canonical_split(wanted) not in by_name:
        raise UserError(
            f"hf: {repository} has no split '{wanted}'",
            expected=f"one of {', '.join(splits)}",
            remedy=nearest(wanted, splits),
        )
    return by_name[canonical_split(wanted)]


@contextmanager
def _one_line(repository: str) -> Iterator[None]:
    """Raise UserError for whatever the libraries raise; they draw no bars of their own."""
    import datasets

    drawn = datasets.utils.logging.is_progress_bar_enabled()
    level = datasets.logging.get_verbosity()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity_error()
    try:
        yield
    except UserError:
        raise
    # the libraries' errors have no common class
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(
            f"hf: cannot read {repository}",
            got=words[:240],
            remedy="Check the name; a private data set needs HF_TOKEN",
        ) from error
    finally:
        datasets.logging.set_verbosity(level)
        if drawn:
            datasets.enable_progress_bars()
