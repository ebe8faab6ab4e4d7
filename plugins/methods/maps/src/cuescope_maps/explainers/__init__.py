"""The explainers that this package brings; any package may bring more."""
