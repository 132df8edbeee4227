"""Every call of wrong_calls.py is refused with an exception of one sentence."""
import collections
import tempfile
import unittest
from pathlib import Path

import lathe
import models
import wrong_calls

LEAST = 200


class WrongCalls(unittest.TestCase):
    def test_each_is_refused_with_a_sentence(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            models.write_network(folder / "net.onnx")
            lathe.operator(wrong_calls.PRODUCT, cores=1).save(folder / "artifact")
            table = wrong_calls.calls(folder / "net.onnx", folder / "artifact", folder)
            self.assertGreaterEqual(len(table), LEAST)
            counts = collections.Counter(what for what, _, _ in table)
            self.assertEqual([what for what, count in counts.items() if count > 1], [])
            for what, call, words in table:
                with self.subTest(what):
                    self.check(call, words)

    def check(self, call, words):
        with self.assertRaises(lathe.Error) as caught:
            call()
        text = str(caught.exception)
        # What a file holds is no fault of the call, and is named by the file's path.
        self.assertTrue(isinstance(caught.exception, ValueError) or text.startswith("/"), text)
        self.assertTrue(text and "\n" not in text and not text.endswith("."), text)
        for word in words:
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
