"""Settings: what is admitted, and what is said about the rest."""

import tempfile
import unittest
from pathlib import Path

from solver.settings import Settings, SettingsError, read_settings

GOOD = "algorithm: discounted\nupdate: alternating\ncfr: {alpha: 1.5, beta: -1}\naveraging: {delay: 7, power: 2}\n"


def read(text: str) -> Settings:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "settings.yaml")
        path.write_text(text, encoding="utf-8")
        return read_settings(path)


class Reading(unittest.TestCase):
    def test_a_whole_file_is_read(self) -> None:
        self.assertEqual(read(GOOD), Settings("discounted", "alternating", 1.5, -1.0, 7, 2.0))

    def test_what_is_wrong_is_said_in_a_sentence(self) -> None:
        keys = "algorithm, update, cfr.alpha, cfr.beta, averaging.delay, averaging.power"
        wrong = {
            GOOD.replace("discounted", "cfr+"): "algorithm: expected one of vanilla, plus, discounted, found 'cfr+'.",
            GOOD.replace("delay: 7", "delay: 7.0"): "averaging.delay: expected a whole number from 0 to 80, found 7.0.",
            GOOD.replace("delay: 7", "delay: 81"): "averaging.delay: expected a whole number from 0 to 80, found 81.",
            GOOD.replace("delay: 7", "delay: -1"): "averaging.delay: expected a whole number from 0 to 80, found -1.",
            GOOD.replace("delay: 7", "delay: true"): "averaging.delay: expected a whole number from 0 to 80, found True.",
            GOOD.replace("power: 2", "power: .nan"): "averaging.power: expected a number from 0 to 5, found nan.",
            GOOD.replace("power: 2", "power: '2'"): "averaging.power: expected a number from 0 to 5, found '2'.",
            GOOD.replace("beta: -1", "beta: yes"): "cfr.beta: expected a number from -5 to 5, found True.",
            GOOD.replace("beta", "bete"): f"expected exactly {keys}; unknown: cfr.bete; missing: cfr.beta.",
            GOOD + "iterations: 9999\n": f"expected exactly {keys}; unknown: iterations; missing: none.",
            GOOD + "update: alternating\n": "expected each key once, found twice: update.",
            "- 1\n": "expected a mapping of settings, found [1].",
            "": "expected a mapping of settings, found None.",
        }
        for text, sentence in wrong.items():
            with self.assertRaises(SettingsError) as raised:
                read(text)
            self.assertEqual(str(raised.exception), f"settings.yaml: {sentence}")

    def test_values_that_trip_the_yaml_reader_are_refused_like_any_other(self) -> None:
        for value in ("2026-13-45", 5000 * "9", "&self {alpha: *self}"):
            with self.assertRaisesRegex(SettingsError, r"^settings\.yaml: expected a readable YAML file, found: "):
                read(f"cfr: {value}\n")

    def test_a_file_that_is_no_yaml_is_refused_with_the_place(self) -> None:
        with self.assertRaisesRegex(SettingsError, r"^settings\.yaml: expected a readable YAML file, found: .* line 1, column 5"):
            read("a: [")
