"""CLAVI (section 5): samples with complements in video and in text, and what they reveal."""
