"""Drones that differ in how they move, and four things that may give a label away."""
