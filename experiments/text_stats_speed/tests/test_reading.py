import unittest

from text_stats import reading_ease, report, similarity, syllables


class Readability(unittest.TestCase):
    def test_syllables_are_groups_of_vowels(self) -> None:
        self.assertEqual([syllables(word) for word in ("cat", "window", "queue", "rhythm", "banana")], [1, 2, 1, 1, 3])

    def test_a_silent_e_is_not_counted(self) -> None:
        self.assertEqual([syllables(word) for word in ("stone", "the", "little")], [1, 1, 1])

    def test_a_word_without_vowels_has_one_syllable(self) -> None:
        self.assertEqual(syllables("hmm"), 1)

    def test_the_reading_ease_is_fleschs(self) -> None:
        # 7 words, 2 sentences, 8 syllables
        expected = 206.835 - 1.015 * 7 / 2 - 84.6 * 8 / 7
        self.assertAlmostEqual(reading_ease("The cat sat down. A window broke."), expected)

    def test_a_text_without_words_has_the_reading_ease_0(self) -> None:
        self.assertEqual(reading_ease("..."), 0.0)


class Similarity(unittest.TestCase):
    def test_equal_proportions_are_1(self) -> None:
        self.assertAlmostEqual(similarity({"a": 1, "b": 2}, {"a": 2, "b": 4}), 1)

    def test_nothing_shared_is_0(self) -> None:
        self.assertEqual(similarity({"a": 1}, {"b": 1}), 0)

    def test_it_is_the_cosine(self) -> None:
        self.assertAlmostEqual(similarity({"a": 3, "b": 4}, {"a": 1}), 0.6)


class Report(unittest.TestCase):
    def test_a_report_holds_every_statistic(self) -> None:
        self.assertEqual(
            report("The cat saw the cat. It ran!", "The cat."),
            {
                "words": 7,
                "distinct": 5,
                "sentences": 2,
                "longest": 5,
                "top_words": [("cat", 2), ("the", 2), ("it", 1), ("ran", 1), ("saw", 1)],
                "top_pairs": [("the cat", 2), ("cat it", 1), ("cat saw", 1), ("it ran", 1), ("saw the", 1)],
                "top_triples": [
                    ("cat it ran", 1),
                    ("cat saw the", 1),
                    ("saw the cat", 1),
                    ("the cat it", 1),
                    ("the cat saw", 1),
                ],
                "reading_ease": 206.835 - 1.015 * 7 / 2 - 84.6,
                "similarity": 4 / (11**0.5 * 2**0.5),
            },
        )
