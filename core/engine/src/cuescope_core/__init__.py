"""The engine: hook specs, values, registry, building, the audit loop, answers, runs as data.

It knows no command, no terminal and no page; `cuescope` does, and imports it.
"""

# the functions of `cuescope_core.remedies` for real; the application names its own
remedies_module: "str | None" = None
