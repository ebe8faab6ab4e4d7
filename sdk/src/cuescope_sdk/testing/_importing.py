"""What importing a plugin costs, seen from a fresh process."""

import inspect
import os
import subprocess
import sys

from cuescope_sdk.testing._violation import ContractViolation

HEAVY = (
    "torch",
    "torchvision",
    "tensorflow",
    "jax",
    "transformers",
    "open_clip",
    "faiss",
    "av",
    "cv2",
    "sklearn",
    "pandas",
    "matplotlib",
    "ray",
)

_CODE = """
import importlib, importlib.util, sys
name, file, *heavy = sys.argv[1:]
if importlib.util.find_spec(name.partition(".")[0]):
    importlib.import_module(name)
else:
    spec = importlib.util.spec_from_file_location(name.rpartition(".")[2], file)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
print("\\n" + " ".join(name for name in heavy if name in sys.modules))
"""


def heavy_imports(plugin: type) -> list[str]:
    """The heavy libraries that importing the plugin's module loads; raises ContractViolation."""
    file = inspect.getsourcefile(plugin) or ""
    finished = subprocess.run(
        [sys.executable, "-c", _CODE, plugin.__module__, file, *HEAVY],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise ContractViolation(
            "a module that imports by itself",
            got=(finished.stderr.strip().splitlines() or ["an exit"])[-1],
            remedy="Import what it needs, and nothing from the place it is started in",
        )
    return finished.stdout.splitlines()[-1].split()
