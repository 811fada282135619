"""Statistics of a text: words, sentences, n-grams, readability and likeness."""

from text_stats.frequencies import frequencies, top
from text_stats.ngrams import ngrams
from text_stats.readability import reading_ease, syllables
from text_stats.report import report
from text_stats.sentences import sentences
from text_stats.similarity import similarity
from text_stats.words import words

__all__ = ["frequencies", "ngrams", "reading_ease", "report", "sentences", "similarity", "syllables", "top", "words"]
