"""Plants in pots on a window sill, a picture a day, and four things that may give a label away."""
