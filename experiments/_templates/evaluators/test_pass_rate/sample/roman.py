"""Roman numerals, nearly right."""

SIGNS = [(10, "X"), (5, "V"), (4, "IV"), (1, "I")]


def roman(number: int) -> str:
    """The number in Roman numerals."""
    text = ""
    for value, sign in SIGNS:
        while number >= value:
            text, number = text + sign, number - value
    return text
