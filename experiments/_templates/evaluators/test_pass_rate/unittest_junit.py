"""Runs the unittest tests of a folder and writes a JUnit report; pytest and others write one themselves."""

import sys
import unittest
import xml.etree.ElementTree as Tree


class Report(unittest.TextTestResult):
    """Remembers each test with what went wrong in it."""

    def startTestRun(self) -> None:
        self.suite = Tree.Element("testsuite")

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.case = Tree.SubElement(self.suite, "testcase", name=test.id())

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        for word, found in (("failure", self.failures), ("error", self.errors), ("skipped", self.skipped)):
            if any(test is one or getattr(one, "test_case", None) is test for one, _ in found):
                Tree.SubElement(self.case, word)


def main(folder: str, output: str) -> None:
    """Discovers the tests of the folder with the current directory as top level."""
    suite = unittest.defaultTestLoader.discover(folder, top_level_dir=".")
    result = unittest.TextTestRunner(resultclass=Report).run(suite)
    Tree.ElementTree(result.suite).write(output, encoding="utf-8", xml_declaration=True)
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    sys.path.insert(0, ".")
    main(*sys.argv[1:])
