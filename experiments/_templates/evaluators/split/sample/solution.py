"""A sort that could be quicker."""


def solve(numbers: list[int]) -> list[int]:
    """The numbers in ascending order."""
    done: list[int] = []
    for number in numbers:
        place = 0
        while place < len(done) and done[place] <= number:
            place += 1
        done.insert(place, number)
    return done
