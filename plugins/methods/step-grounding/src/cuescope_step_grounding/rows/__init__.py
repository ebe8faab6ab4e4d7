"""The lines of the report: what each is of, and what it proves."""
