"""What makes a release: versions, checks, builds and proofs (`make release`, `make prove`)."""
