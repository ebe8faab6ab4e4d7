"""Permissions of values that nobody typed at this command line."""
