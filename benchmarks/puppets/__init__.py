"""Shadow puppets that differ in what they do, and three things that may give a label away."""
