"""A text's words."""


def words(text: str) -> list[str]:
    """The words in lower case; a word is made of letters, and of apostrophes between two letters."""
    found: list[str] = []
    word = ""
    for place, character in enumerate(text):
        if character.isalpha():
            word = word + character.lower()
        elif character == "'" and word and place + 1 < len(text) and text[place + 1].isalpha():
            word = word + character
        elif word:
            found.append(word)
            word = ""
    if word:
        found.append(word)
    return found
