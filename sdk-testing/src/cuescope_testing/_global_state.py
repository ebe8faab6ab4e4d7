"""The state that all code of a process shares, and who changes it.

As a script it imports a plugin's module in a process of its own, and prints what that loads and
changes. What the plugin imports may itself warn or draw (numpy seeds itself, torch adds filters),
so the first import of the libraries is not held against it: the module runs twice, and only the
second run is compared.

A new interpreter with all that every plugin imports takes most of a second. With `--serve` the
script imports that once, then forks for each module that it is asked about: milliseconds each, and
no fork knows what another one imported. Nothing but the standard library is imported before.
"""

import importlib.util
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from tempfile import TemporaryFile
from typing import Any

# modules, and their functions that give the state, set it, and move it by a draw
GENERATORS = (
    ("random", "getstate", "setstate", "getrandbits"),
    ("numpy.random", "get_state", "set_state", "rand"),
    # of the CPU: devices may not be there
    ("torch", "get_rng_state", "set_rng_state", "rand"),
)


def moved_states(action: Callable[[], object]) -> list[str]:
    """The libraries whose global random state `action` moved, or that it was the first to load.

    States of libraries that were loaded before are put back.
    """
    # the caller's own: the stirring below must not be seen later
    saved = _random_states()
    try:
        # seeding with a constant shows only if the state was another before
        for name, _, _, draw in GENERATORS:
            if name in saved:
                getattr(sys.modules[name], draw)(1)
        before = _random_states()
        action()
        after = _random_states()
    finally:
        for name, _, put_back, _ in GENERATORS:
            if name in saved:
                getattr(sys.modules[name], put_back)(saved[name])
    return [
        name
        for name, state in after.items()
        if name not in before or _text(state) != _text(before[name])
    ]


def _random_states() -> dict[str, Any]:
    # a library that nobody imported has no state to move
    loaded = [names for names in GENERATORS if names[0] in sys.modules]
    return {name: getattr(sys.modules[name], read)() for name, read, _, _ in loaded}


def _text(state: Any) -> str:
    parts = state if isinstance(state, tuple) else (state,)
    return repr([part.tolist() if hasattr(part, "tolist") else part for part in parts])


# --------------------------------------------------------------------------------------- importing


def _load(name: str, file: str) -> None:
    """Import a module by its name, or where nobody can find it by that, from its file."""
    if importlib.util.find_spec(name.partition(".")[0]):
        importlib.import_module(name)
        return
    spec = importlib.util.spec_from_file_location(name.rpartition(".")[2], file)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {file}")
    # not entered in sys.modules, so that another module of this name is not hidden
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _import_report(name: str, file: str, *heavy: str) -> dict[str, list[str]]:
    _load(name, file)
    # after the first run, before anything else is imported
    loaded = [library for library in heavy if library in sys.modules]
    package = name.partition(".")[0]
    # the package's own modules run again, the libraries stay
    for module in list(sys.modules):
        if module.partition(".")[0] == package and not package.startswith(
            "cuescope_sdk"
        ):
            del sys.modules[module]
    # a filter that is there already would not be seen to be added
    warnings.resetwarnings()
    filters = repr(warnings.filters)
    changed = moved_states(lambda: _load(name, file))
    if repr(warnings.filters) != filters:
        changed.append("warnings filters")
    return {"heavy": loaded, "changed": changed}


def _print_report(*arguments: str) -> None:
    # a line of its own, whatever the module has printed without an end
    sys.stdout.write("\n" + json.dumps(_import_report(*arguments)) + "\n")
    sys.stdout.flush()


# ----------------------------------------------------------------------------------------- forking


def _serve() -> None:
    """Answer each line of the input with how a fork ended: exit code, output, errors."""
    importlib.import_module("cuescope_sdk")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_fork(json.loads(line))) + "\n")
        sys.stdout.flush()


def _fork(request: Mapping[str, Any]) -> tuple[int, str, str]:
    # files hold any amount; a pipe that is full would stop the child
    with TemporaryFile() as output, TemporaryFile() as errors:
        child = os.fork()
        if not child:
            # by number: what a library in C prints is caught as well
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            # the child must not go on with the loop of its parent
            os._exit(_exit_code(request))
        # waits, so that no dead child is left, and its files are whole
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code, _text_of(output), _text_of(errors)


def _text_of(file: Any) -> str:
    file.seek(0)
    text: str = file.read().decode(errors="replace")
    return text


def _exit_code(request: Mapping[str, Any]) -> int:
    """Print the report of a process that was started where the asking one stands."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[:] = request["places"]
    # folders of the path may have changed since the finders looked
    importlib.invalidate_caches()
    try:
        _print_report(*request["arguments"])
    # a module may call sys.exit, and the child must end here all the same
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        _print_report(*sys.argv[1:])
