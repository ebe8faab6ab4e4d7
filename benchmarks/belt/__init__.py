"""Parts on a conveyor belt, filmed from above, and three things that may give a label away."""
