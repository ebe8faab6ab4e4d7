"""Every package of cuescope, as dependencies; no code is here."""
