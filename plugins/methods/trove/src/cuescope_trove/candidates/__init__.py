"""Groups of frames that overlap: what they are, what they cost, and what is told of them."""
