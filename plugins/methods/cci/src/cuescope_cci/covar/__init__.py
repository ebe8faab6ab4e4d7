"""`cuescope dev bench covar`: CCI's error sources on eight subsets of a controlled benchmark."""
