import unittest

from text_stats import frequencies, ngrams, top


class Frequencies(unittest.TestCase):
    def test_each_thing_is_counted_in_the_order_of_its_first_occurrence(self) -> None:
        self.assertEqual(list(frequencies(["b", "a", "b", "c", "a", "b"]).items()), [("b", 3), ("a", 2), ("c", 1)])

    def test_nothing_has_no_frequencies(self) -> None:
        self.assertEqual(frequencies([]), {})

    def test_the_top_comes_by_count_and_then_by_alphabet(self) -> None:
        self.assertEqual(top({"b": 2, "c": 5, "a": 2, "d": 1}, 3), [("c", 5), ("a", 2), ("b", 2)])

    def test_the_top_of_few_is_all_of_them(self) -> None:
        self.assertEqual(top({"a": 1}, 3), [("a", 1)])


class Ngrams(unittest.TestCase):
    def test_neighbours_are_counted_with_blanks_between_them(self) -> None:
        self.assertEqual(ngrams(["a", "b", "a", "b"], 2), {"a b": 2, "b a": 1})

    def test_a_run_of_one_is_a_word(self) -> None:
        self.assertEqual(ngrams(["a", "b", "a"], 1), {"a": 2, "b": 1})

    def test_fewer_words_than_a_run_make_none(self) -> None:
        self.assertEqual(ngrams(["a", "b"], 3), {})
