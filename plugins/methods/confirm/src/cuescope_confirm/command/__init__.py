"""`cuescope confirm` and `cuescope investigate`."""

METHOD = "confirm"
PARTS = 2  # found in the first, tested in the other
