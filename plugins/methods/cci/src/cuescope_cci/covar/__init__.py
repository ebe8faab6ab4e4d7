"""`cuescope bench covar`: CCI's error sources on the eight subsets of a controlled benchmark."""
