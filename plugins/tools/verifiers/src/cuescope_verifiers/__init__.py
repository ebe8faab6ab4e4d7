"""Tools in the role `claim-verifier`: each holds claims against one kind of evidence."""
