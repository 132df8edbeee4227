"""The package does what the command line does: the same results bit by bit, the same sentences."""
import json
import signal
import tempfile
import threading
import unittest
from pathlib import Path

import lathe
import models
import numpy as np

PRODUCT = "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]"


def arrays(*shapes, dtype=np.float32):
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


class Package(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def run_by_command_line(self, artifact, inputs, outputs):
        words = ["run", artifact, "--repeat", 1]
        for i, array in enumerate(inputs):
            np.save(self.folder / f"in{i}.npy", array)
            words += ["--input", f"in{i}.npy"]
        for i in range(outputs):
            words += ["--output", f"out{i}.npy"]
        models.lathe(*words, folder=self.folder)
        return [np.load(self.folder / f"out{i}.npy") for i in range(outputs)]

    def test_an_operator_gives_what_lathe_run_gives(self):
        inputs = arrays((9, 7), (7, 8))
        product = lathe.operator(PRODUCT, constants=["B"], name="mm", cores=1)
        (self.folder / "w.json").write_text(json.dumps(
            [{"name": "mm", "op": "expression", "text": PRODUCT, "constants": ["B"]}]))
        models.lathe("compile", "--workload", "w.json", "--cores", 1, "--out", "out", folder=self.folder)
        expected = self.run_by_command_line("out/mm", inputs, 1)
        np.testing.assert_array_equal(product(*inputs), expected[0])
        np.testing.assert_allclose(expected[0], inputs[0] @ inputs[1], rtol=1e-5)

    def test_a_network_gives_what_lathe_run_gives(self):
        models.write_network(self.folder / "net.onnx", open_dimension=True)
        inputs = arrays((3, 3, 5, 5))
        network = lathe.network(self.folder / "net.onnx", {"image": (3, 3, 5, 5)}, cores=1)
        models.lathe("compile", "net.onnx", "--input", "image=3,3,5,5", "--cores", 1, "--out", "out",
                     folder=self.folder)
        expected = self.run_by_command_line("out", inputs, 2)
        given = network(image=inputs[0])
        self.assertEqual([output.name for output in network.outputs], ["positive", "scores"])
        for one, other in zip(given, expected, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_a_free_size_takes_any_within_its_bounds(self):
        models.write_network(self.folder / "net.onnx", open_dimension=True)
        network = lathe.network(self.folder / "net.onnx", {"image": ((1, 3), 3, 5, 5)}, cores=1)
        self.assertEqual(network.inputs[0].shape, (3, 3, 5, 5))
        self.assertEqual(network.inputs[0].least, (1, 3, 5, 5))
        whole = network(*arrays((3, 3, 5, 5)))
        for size in (1, 2, 3):
            given = network(image=arrays((3, 3, 5, 5))[0][:size])
            for one, all_of_it in zip(given, whole, strict=True):
                np.testing.assert_allclose(one, all_of_it[:size], rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(lathe.InputError, r"must be f32\[1\.\.3,3,5,5\], this is f32\[4,3,5,5\]"):
            network(*arrays((4, 3, 5, 5)))

    def test_a_tuned_operator_is_saved_and_loaded(self):
        inputs = arrays((9, 7), (7, 8))
        product = lathe.operator(PRODUCT, name="mm", cores=1)
        sentences = []
        tasks = product.tune(trials=4, records=self.folder / "r.db", progress=sentences.append)
        self.assertEqual([(task.name, task.trials) for task in tasks], [("mm", 4)])
        self.assertGreater(tasks[0].seconds, 0)
        self.assertTrue(any("trials" in sentence for sentence in sentences), sentences)
        product.save(self.folder / "saved")
        loaded = lathe.load(self.folder / "saved")
        self.assertEqual([(t.name, t.type, t.shape) for t in loaded.inputs], [("A", "f32", (9, 7)), ("B", "f32", (7, 8))])
        np.testing.assert_array_equal(loaded(*inputs), product(*inputs))
        np.testing.assert_array_equal(loaded(*inputs), self.run_by_command_line("saved", inputs, 1)[0])
        models.lathe("verify", "saved", folder=self.folder)

    def test_the_records_are_the_command_lines(self):
        product = lathe.operator(PRODUCT, name="mm", cores=1)
        product.tune(trials=3, records=self.folder / "r.db")
        self.assertIn("mm", models.lathe("show", "r.db", folder=self.folder))

    def test_a_network_is_tuned(self):
        models.write_network(self.folder / "net.onnx")
        network = lathe.network(self.folder / "net.onnx", cores=1)
        inputs = arrays((2, 3, 5, 5))
        before = network(*inputs)
        self.assertEqual(len(network.tune(trials=2, records=None)), 2)
        for one, other in zip(network(*inputs), before, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)

    def test_ctrl_c_ends_tuning_and_loses_nothing(self):
        product = lathe.operator(PRODUCT, name="mm", cores=1)
        records = self.folder / "r.db"

        def interrupt(sentence):
            if " 0 trials" not in sentence:
                signal.raise_signal(signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            product.tune(trials=400, records=records, enough=0, progress=interrupt)
        (shown,) = json.loads(models.lathe("show", "r.db", "--json", folder=self.folder))
        self.assertGreater(shown["trials"], 0)
        self.assertLess(shown["trials"], 400)

    def test_what_a_progress_function_raises_comes_out(self):
        def fail(sentence):
            raise ZeroDivisionError(sentence)

        with self.assertRaises(ZeroDivisionError):
            lathe.operator(PRODUCT, cores=1).tune(trials=4, records=None, progress=fail)

    def test_several_threads_call_one_program(self):
        product = lathe.operator(PRODUCT, cores=1)
        a, b = arrays((9, 7), (7, 8))
        results = [None] * 6

        def call(i):
            for _ in range(20):
                results[i] = product(a * i, b)

        threads = [threading.Thread(target=call, args=(i,)) for i in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, result in enumerate(results):
            np.testing.assert_allclose(result, a * i @ b, rtol=1e-4, atol=1e-4)

    def test_arrays_of_other_orders_and_steps_are_copied(self):
        a, b = arrays((9, 7), (7, 8))
        product = lathe.operator(PRODUCT, cores=1)
        expected = product(a, b)
        wide = np.zeros((18, 7), np.float32)
        wide[::2] = a
        for other in (np.asfortranarray(a), wide[::2], a.astype(">f4"), a[::-1].copy()[::-1]):
            np.testing.assert_array_equal(product(other, B=np.asfortranarray(b)), expected)

    def test_all_element_types_that_numpy_has(self):
        for name, dtype in (("f16", np.float16), ("f32", np.float32), ("f64", np.float64), ("i8", np.int8),
                            ("i16", np.int16), ("i32", np.int32), ("i64", np.int64), ("u8", np.uint8),
                            ("u16", np.uint16), ("bool", np.bool_)):
            values = (np.arange(12).reshape(3, 4) % 2).astype(dtype)
            with self.subTest(name):
                copy = lathe.operator(f"input A[3,4] {name}\nC[i:3, j:4] = A[i,j]", cores=1)
                self.assertEqual(copy.inputs[0].type, name)
                given = copy(values)
                self.assertEqual(given.dtype, values.dtype)
                np.testing.assert_array_equal(given, values)

    def test_sentences_are_the_command_lines(self):
        text = "C[i:9] = sum(r:7) A[i,r] * B[q]"
        (self.folder / "w.json").write_text(json.dumps([{"name": "mm", "op": "expression", "text": text}]))
        told = models.sentence("compile", "--workload", "w.json", "--out", "out", folder=self.folder)
        with self.assertRaises(lathe.Error) as caught:
            lathe.operator(text)
        self.assertEqual(told, f"w.json: entry 'mm': {caught.exception}")
        missing = self.folder / "missing.onnx"
        told = models.sentence("compile", missing, "--out", "out", folder=self.folder)
        with self.assertRaises(lathe.Error) as caught:
            lathe.network(missing)
        self.assertEqual(told, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
