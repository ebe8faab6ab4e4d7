"""Tools that name what may be a cue for a class."""
