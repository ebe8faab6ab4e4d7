"""Checks against what people or a detector say is on screen."""
