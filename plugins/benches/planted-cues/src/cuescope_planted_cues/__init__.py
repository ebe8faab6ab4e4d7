"""Which auditors find a planted cue, and leave alone what the model does not use."""
