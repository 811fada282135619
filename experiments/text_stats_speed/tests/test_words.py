import unittest

from text_stats import words


class Words(unittest.TestCase):
    def test_words_are_in_lower_case_and_free_of_signs(self) -> None:
        self.assertEqual(words('He said: "Go, NOW!" (twice)'), ["he", "said", "go", "now", "twice"])

    def test_an_apostrophe_between_letters_belongs_to_the_word(self) -> None:
        self.assertEqual(words("Don't say rock'n'roll."), ["don't", "say", "rock'n'roll"])

    def test_an_apostrophe_at_an_edge_does_not(self) -> None:
        self.assertEqual(words("'tis the boys' 'own' one'"), ["tis", "the", "boys", "own", "one"])

    def test_digits_and_hyphens_end_a_word(self) -> None:
        self.assertEqual(words("well-known b2b_x"), ["well", "known", "b", "b", "x"])

    def test_letters_of_other_alphabets_are_letters(self) -> None:
        self.assertEqual(words("Ärger über Ελλάδα"), ["ärger", "über", "ελλάδα"])

    def test_a_text_without_letters_has_no_words(self) -> None:
        self.assertEqual(words("  12 ' -- \n"), [])


if __name__ == "__main__":
    unittest.main()
