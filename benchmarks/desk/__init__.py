"""Paper cut-outs on a desk as CLIP sees them, and three things that may give a label away."""
