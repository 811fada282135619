"""The right answers, by a second implementation that the code under test has no part in."""


def answer(request: list[int]) -> list[int]:
    """Change: what the code has to answer."""
    return sorted(request)
