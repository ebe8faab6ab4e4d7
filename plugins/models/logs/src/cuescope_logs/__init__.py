"""Logs of evaluation harnesses: a model that has answered, and the questions that it answered.

A format is a reader (docs/adr/0032); `opening.py` finds the one that fits, `joining.py` brings
answers and samples together, `model.py` and `dataset.py` show both to an audit.
"""
