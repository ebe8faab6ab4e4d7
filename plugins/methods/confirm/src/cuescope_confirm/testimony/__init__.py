"""What is done for a cue, whether it did what it says, and what it weighs."""
