"""English: from the words of a sentence to its claims."""
