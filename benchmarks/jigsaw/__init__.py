"""Jigsaw puzzles of real photos as CLIP sees them, and three things that may give a label away."""
