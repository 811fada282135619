"""All statistics of a text at once."""

from text_stats.frequencies import frequencies, top
from text_stats.ngrams import ngrams
from text_stats.readability import reading_ease
from text_stats.sentences import sentences
from text_stats.similarity import similarity
from text_stats.words import words


def report(text: str, other: str) -> dict[str, object]:
    """The statistics of `text`, and how alike `other` is to it; what it returns can be written as JSON."""
    found = words(text)
    counts = frequencies(found)
    return {
        "words": len(found),
        "distinct": len(counts),
        "sentences": len(sentences(text)),
        "longest": max((len(words(sentence)) for sentence in sentences(text)), default=0),
        "top_words": top(counts, 5),
        "top_pairs": top(ngrams(found, 2), 5),
        "top_triples": top(ngrams(found, 3), 5),
        "reading_ease": reading_ease(text),
        "similarity": similarity(counts, frequencies(words(other))),
    }
