"""Nine mitigators: prompts, last layers, hiding, weights for training, and a plain refit."""
