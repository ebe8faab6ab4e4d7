"""Cells in a dish that differ in how they stream, and three things that may give a label away."""
