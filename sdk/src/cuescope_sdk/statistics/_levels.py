"""Multiplicity of a family of one-sided tests of limits."""


def multiplicity(beyond: int, tests: int) -> float:
    """Divisor of the error of a family of one-sided tests; `beyond` estimates pass their limit.

    A test whose estimate lies within its limit is not made. The others pay twice, since of tests
    at their limit half seem to lie beyond it (Zhao, Small and Su, 2019, "Multiple testing when many
    p-values are uniformly conservative", tau 1/2). For tests of means that hang together little, or
    rise together. Of one or two, all are paid for (Bonferroni).
    """
    return float(max(tests, 1) if tests <= 2 else 2 * max(beyond, 1))
