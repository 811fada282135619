import unittest

from roman import roman


class Roman(unittest.TestCase):
    def test_ones(self) -> None:
        self.assertEqual(roman(3), "III")

    def test_four(self) -> None:
        self.assertEqual(roman(4), "IV")

    def test_six(self) -> None:
        self.assertEqual(roman(6), "VI")

    def test_nine(self) -> None:
        self.assertEqual(roman(9), "IX")
