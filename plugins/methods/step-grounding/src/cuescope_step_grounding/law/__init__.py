"""The law of section 5.2: models that are grounded better keep more accuracy on other data."""
