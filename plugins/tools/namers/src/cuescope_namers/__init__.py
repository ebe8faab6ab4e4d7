"""Tools that guess words for clusters of frames (the role `namer`)."""
