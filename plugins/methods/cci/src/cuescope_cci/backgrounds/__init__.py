"""The backgrounds of an audit: their kinds, and which class they pull answers to."""
