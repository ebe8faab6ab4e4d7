"""QUAG's edits of attention, for models of one's own and for stock transformers models."""
