"""Arms of a cue, the dose of each, which are asked about, and samples as they are."""
