"""Classes in a file that a person names in place of a plugin: `./idea.py:Idea`."""

import sys
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from cuescope_core.errors import UserError, nearest


def names_class_file(name: str) -> bool:
    """True for `FILE.py` and `FILE.py:CLASS`, whether the file is there or not."""
    return name.partition(":")[0].endswith(".py")


@dataclass(frozen=True)
class ClassFile:
    """A class in a file, and the file's content as it is now."""

    path: Path
    attribute: str
    content: bytes

    @classmethod
    def of(cls, kind: str, name: str) -> Self:
        """Read `FILE.py:CLASS`; raises UserError where no class is named or no file is there."""
        file, _, attribute = name.partition(":")
        if not attribute:
            raise UserError(f"{kind} '{name}' names no class", expected=f"{file}:CLASS")
        path = Path(file).expanduser()
        try:
            return cls(path.resolve(), attribute, path.read_bytes())
        except OSError as error:
            raise UserError(f"cannot read {file}", got=error.strerror) from error

    @property
    def digest(self) -> str:
        """Digest of the content: an edited file is another plugin."""
        return blake2b(self.content, digest_size=16).hexdigest()

    @property
    def module(self) -> str:
        """The name of its module, which other files and other contents do not share."""
        state = blake2b(str(self.path).encode() + self.content, digest_size=4)
        return f"{self.path.stem}_{state.hexdigest()}"

    def load(self) -> Any:
        """Run the file, once a content, and return the class."""
        module = sys.modules.get(self.module)
        if module is None:
            module = ModuleType(self.module)
            module.__file__ = str(self.path)
            # its neighbours are found, and last: they hide nothing that is installed
            if str(self.path.parent) not in sys.path:
                sys.path.append(str(self.path.parent))
            # before it runs: dataclasses and pickle look their module up
            sys.modules[self.module] = module
            try:
                # what was digested is what runs
                exec(compile(self.content, self.path, "exec"), module.__dict__)
            except BaseException:
                del sys.modules[self.module]
                raise
        if not hasattr(module, self.attribute):
            raise UserError(
                f"{self.path.name} has no class '{self.attribute}'",
                remedy=nearest(self.attribute, vars(module)),
            )
        return getattr(module, self.attribute)
