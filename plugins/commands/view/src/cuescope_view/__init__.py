"""A local page over the folder of runs: `cuescope view`."""
