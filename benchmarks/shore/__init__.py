"""Shores with real cut-outs as CLIP sees them, and three things that may give a label away."""
