"""Verdicts in words: sentences, and what a decision lacks."""
