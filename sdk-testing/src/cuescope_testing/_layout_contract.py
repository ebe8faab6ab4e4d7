"""Contract of data sets that read their authors' files, on a tiny tree in their layout."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, ClassVar, NamedTuple

from cuescope_sdk import BadDataError, Dataset, PluginError, UserError
from cuescope_testing._contract import ContractViolation, PerClass, expect
from cuescope_testing._dataset_contract import DatasetContract


class Mistake(NamedTuple):
    """A file of the tree with another text, or gone (None), and what must be said of it.

    No file ("") is a mistake of the options alone.
    """

    file: str
    text: str | None
    message: str
    options: Mapping[str, Any] = {}

    def damage(self, root: Path) -> None:
        """Damage a tree."""
        file = root / self.file
        # a name that is wrong in the table must not pass: unlink raises for it
        if self.file and self.text is None:
            file.unlink()
        elif self.text is not None:
            # a mistake may be a file too many, in a folder of its own
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.text)


class LayoutContract(DatasetContract):
    """Checks of a data set with options `path` and `max_missing`. Subclass it in a test module:

        class TestMyPhotos(LayoutContract):
            plugin = MyPhotos
            mistakes = (Mistake("table.csv", None, "no table.csv"),)

            @classmethod
            def written(cls, root): ...

            def test_a_photo_is_a_sample(self):
                assert self.open()[0].label == "cat"

    `options` and `other_options` are those beside `path`.
    """

    mistakes: ClassVar[tuple[Mistake, ...]] = ()
    tree: PerClass[Path] = PerClass(lambda contract: contract.new_tree())

    @classmethod
    def written(cls, root: Path) -> None:
        """Write a tiny tree in the authors' layout into an empty folder."""
        raise NotImplementedError

    @classmethod
    def new_tree(cls) -> Path:
        """A fresh tree; every check of the class shares the first."""
        root = Path(mkdtemp(dir=cls.cache_folder())) / "data"
        root.mkdir()
        cls.written(root)
        return root

    @classmethod
    def open(cls, root: Path | None = None, **options: Any) -> Any:
        """The data set of the shared tree, or of another one, with options beside `options`."""
        return super().build(
            {"path": root or cls.tree.of(cls), **cls.options, **options}
        )

    @classmethod
    def build(cls, options: Mapping[str, Any] | None = None) -> Dataset:
        """The data set of the shared tree."""
        return cls.open(**(options or {}))  # type: ignore[no-any-return]

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """A copy of the shared tree that may be damaged."""
        with TemporaryDirectory() as folder:
            # all checks share the tree, so none may damage it
            yield copytree(self.tree, Path(folder) / "data")

    def refusal(self, root: Path, **options: Any) -> UserError:
        """Error of opening it; raises ContractViolation where it is no one line of a UserError."""
        got: object = "a data set"
        try:
            self.open(root, **options)
        except UserError as error:
            got = error
        if not isinstance(got, UserError) or isinstance(got, PluginError):
            # a PluginError stands for any other error that left the plugin
            raise ContractViolation("a UserError", got=got)
        expect("\n" not in str(got), "one line", got=got)
        return got

    def test_tells_mistakes_in_one_line(self) -> None:
        """A path that is not there, and each of `mistakes`: name file, line, what came."""
        with self.copy() as root:
            missing = root.with_name("dat")
            message = str(self.refusal(missing))
        expect(str(missing) in message, "a line that names the path", got=message)
        # whoever audits several data sets must see which one is meant
        title = getattr(self.plugin, "title", "")
        for mistake in self.mistakes:
            # a copy for each mistake: they must not hide one another
            with self.copy() as root:
                mistake.damage(root)
                message = str(self.refusal(root, **mistake.options))
            told = message.startswith(title) and mistake.message in message
            expect(told, f"'{mistake.message}' of {mistake.file}", got=f"'{message}'")

    def test_leaves_out_what_cannot_be_read(self) -> None:
        """One broken file must not cost an audit, nor go in silence: facts['left out'] says it."""
        whole = len(self.data)
        with self.copy() as root:
            # some media may not be of a sample (a mask, another split): one that is has to be found
            for file in media_in(root):
                content = file.read_bytes()
                file.write_bytes(b"broken")
                # the tree is tiny: one file of it may be more than the default allows
                data = self.open(root, max_missing=0.99)
                if len(data) < whole:
                    fact = data.facts.get("left out", "")
                    expect("readable" in fact, "what is unreadable", got=f"'{fact}'")
                    return
                # mended, so that the next is the only broken one
                file.write_bytes(content)
        raise ContractViolation("a sample less where a file is broken", got="all")

    def test_refuses_when_too_much_is_left_out(self) -> None:
        """What is left would be other data: BadDataError where more than max_missing is gone."""
        with self.copy() as root:
            for file in media_in(root):
                file.write_bytes(b"broken")
            error = self.refusal(root)
        is_kind = isinstance(error, BadDataError)
        expect(is_kind, "a BadDataError", got=repr(error))


def media_in(root: Path) -> list[Path]:
    """The images and videos of a tree."""
    from cuescope_sdk.data._media import kind_of

    return [
        file for file in sorted(root.rglob("*")) if file.is_file() and kind_of(file)
    ]
