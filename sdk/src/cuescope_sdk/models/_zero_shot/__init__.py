"""Zero-shot classification by image-text similarity: what every contrastive model plugin shares."""
