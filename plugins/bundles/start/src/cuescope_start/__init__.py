"""All that the README's first audits need, as dependencies; no code is here."""
