"""The explainers: each looks for its own evidence inside a stock image tower."""
