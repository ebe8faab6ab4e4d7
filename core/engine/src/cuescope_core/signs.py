"""Numbers with a true minus sign, as sentences, tables and charts print them."""


def with_sign(value: float, form: str) -> str:
    """The value in this format, and no minus before zeros.

    >>> with_sign(-2.345, ".1f"), with_sign(-0.04, ".1f"), with_sign(-1234.5, ",.0f")
    ('−2.3', '0.0', '−1,234')
    """
    text = f"{abs(value):{form}}"
    is_zero = not text.strip("0.")
    return text if value >= 0 or is_zero else f"\N{MINUS SIGN}{text}"
