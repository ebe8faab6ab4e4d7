"""Ways to take a cue out of samples, or to put it into others."""
