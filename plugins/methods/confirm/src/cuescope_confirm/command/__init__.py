"""`cuescope confirm` and `cuescope investigate`."""
