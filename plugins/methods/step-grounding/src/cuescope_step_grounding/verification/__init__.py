"""The verification pipeline (section 3.2 of the paper): claims held against the video."""
