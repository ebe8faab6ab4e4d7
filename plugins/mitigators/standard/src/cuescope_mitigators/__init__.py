"""Five mitigators: learned prompts, a last layer, hiding, chosen prompts, weights for training."""
