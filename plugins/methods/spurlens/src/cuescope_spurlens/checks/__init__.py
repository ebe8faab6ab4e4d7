"""Checks that ask somebody else: another detector or proposer, or people."""
