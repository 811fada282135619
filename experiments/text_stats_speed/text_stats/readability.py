"""How easily a text reads."""

from text_stats.sentences import sentences
from text_stats.words import words

VOWELS = ["a", "e", "i", "o", "u", "y"]


def syllables(word: str) -> int:
    """The groups of vowels in a word, a silent e at its end not counted; at least one."""
    groups = 0
    before = False
    for letter in word:
        vowel = False
        for each in VOWELS:
            if letter == each:
                vowel = True
        if vowel and not before:
            groups += 1
        before = vowel
    if word.endswith("e") and groups > 1:
        groups -= 1
    return max(groups, 1)


def reading_ease(text: str) -> float:
    """Flesch's reading ease: 100 is easy, 0 is hard; 0 for a text without words."""
    found = words(text)
    if not found:
        return 0.0
    total = sum(syllables(word) for word in found)
    return 206.835 - 1.015 * len(found) / len(sentences(text)) - 84.6 * total / len(found)
