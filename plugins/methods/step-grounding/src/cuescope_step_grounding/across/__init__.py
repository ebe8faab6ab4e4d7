"""Across models: does grounding go with keeping one's accuracy on other data?"""
