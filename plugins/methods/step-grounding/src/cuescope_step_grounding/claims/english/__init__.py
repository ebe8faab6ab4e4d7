"""English sentences: parsed by spaCy, put right, and read for what they claim."""
