"""QUAG's edits of attention."""
