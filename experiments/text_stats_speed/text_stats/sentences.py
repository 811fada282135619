"""A text's sentences."""

ENDS = [".", "!", "?"]


def sentences(text: str) -> list[str]:
    """The sentences without the white space around them; `.`, `!` and `?` end one where white space or nothing follows."""
    found: list[str] = []
    sentence = ""
    for place, character in enumerate(text):
        sentence = sentence + character
        if character in ENDS and (place + 1 == len(text) or text[place + 1].isspace()):
            found.append(sentence.strip())
            sentence = ""
    if sentence.strip():
        found.append(sentence.strip())
    return found
