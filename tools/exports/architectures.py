"""Networks as engineers write them, with random weights, by name."""
from exports.architecture import Architecture
from exports.language import LANGUAGE
from exports.sound import SOUND
from exports.tables import TABLES
from exports.vision import VISION

ARCHITECTURES: dict[str, Architecture] = {**VISION, **LANGUAGE, **SOUND, **TABLES}
CONVERTED = ("resnet18", "mobilenet_v2", "bert", "unet", "speech", "mixer")  # quantised and in 16 bits too
SHORT = ("squeezenet1_1", "mixer", "bert", "t5", "conformer", "tagger", "splines")  # a few, of all kinds of nodes
