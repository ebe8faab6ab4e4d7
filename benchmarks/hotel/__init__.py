"""A hotel at night whose windows change, and three things that may give a label away."""
