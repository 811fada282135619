import unittest

from text_stats import sentences


class Sentences(unittest.TestCase):
    def test_each_of_three_signs_ends_a_sentence(self) -> None:
        self.assertEqual(sentences("One. Two! Three? Four."), ["One.", "Two!", "Three?", "Four."])

    def test_a_dot_inside_a_word_or_number_ends_none(self) -> None:
        self.assertEqual(sentences("It is 3.14 at example.org today."), ["It is 3.14 at example.org today."])

    def test_several_signs_end_one_sentence(self) -> None:
        self.assertEqual(sentences("What?! Well... yes"), ["What?!", "Well...", "yes"])

    def test_white_space_around_a_sentence_is_left_out(self) -> None:
        self.assertEqual(sentences("\n One.\n\n Two.  "), ["One.", "Two."])

    def test_a_text_of_white_space_has_no_sentences(self) -> None:
        self.assertEqual(sentences(" \n"), [])
