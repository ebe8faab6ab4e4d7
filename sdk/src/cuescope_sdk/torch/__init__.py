"""Torch helpers shared by model plugins; needs `cuescope-sdk[torch]`."""
