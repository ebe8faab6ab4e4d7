"""Which GPUs there are, asked without opening one."""

import os
import sys
from pathlib import Path


def visible_gpus(device: str) -> list[str]:
    """What `CUDA_VISIBLE_DEVICES` may name; [] on the CPU, and for one GPU that is named."""
    if device == "cpu" or device.startswith("cuda:"):
        return []
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        numbers = map(str.strip, named.split(","))
        return [number for number in numbers if number and not number.startswith("-")]
    count = len(list(Path("/dev").glob("nvidia[0-9]*")))
    # importing it costs seconds, and not every model needs it
    if torch := sys.modules.get("torch"):
        count = torch.cuda.device_count()
    return list(map(str, range(count)))
