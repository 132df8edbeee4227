"""Arguments of the package's functions, each refused with one sentence before the library sees it."""

import math
import operator
import os

from . import _lathe
from .errors import InputError


def kind_of(value) -> str:
    return type(value).__name__


def text(name: str, value) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string, not {kind_of(value)}")
    return _encodable(name, value)


def path(name: str, value) -> str:
    try:
        found = os.fspath(value)
    except TypeError:
        raise InputError(f"{name} must be a path, not {kind_of(value)}") from None
    if isinstance(found, bytes):
        found = os.fsdecode(found)
    if not found:
        raise InputError(f"{name} is an empty path")
    return _encodable(name, found)


def _encodable(name: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} has characters that are no Unicode text") from None
    if "\0" in value:
        raise InputError(f"{name} has a character of value 0")
    return value


def names(name: str, value) -> list:
    if isinstance(value, (str, bytes)):
        raise InputError(f"{name} must be a list of names, such as ['B'], not one {kind_of(value)}")
    try:
        found = list(value)
    except TypeError:
        raise InputError(f"{name} must be a list of names, not {kind_of(value)}") from None
    return [text(f"each of {name}", each) for each in found]


def whole_number(name: str, value, least: int, most: int = 2**40) -> int:
    if isinstance(value, bool):
        raise InputError(f"{name} must be a whole number, not bool")
    try:
        found = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, not {kind_of(value)}") from None
    if not least <= found <= most:
        raise InputError(f"{name} must be {least} to {most}, not {found}")
    return found


def number(name: str, value, least: float, most: float) -> float:
    if isinstance(value, (bool, str, bytes)):
        raise InputError(f"{name} must be a number, not {kind_of(value)}")
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, not {kind_of(value)}") from None
    if math.isnan(found) or not least <= found <= most:
        raise InputError(f"{name} must be {least:g} to {most:g}, not {found:g}")
    return found


def flag(name: str, value) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, not {kind_of(value)}")
    return value


def choice(name: str, value, legal) -> str:
    found = text(name, value)
    if found not in legal:
        raise InputError(f"{name} must be one of {', '.join(legal)}, not '{found}'")
    return found


def function(name: str, value):
    if value is not None and not callable(value):
        raise InputError(f"{name} must be a function of one string, not {kind_of(value)}")
    return value


def shapes(name: str, value) -> tuple:
    """The largest extents by input, and the axes that stay free by input."""
    if value is None:
        return {}, {}
    if not hasattr(value, "items"):
        raise InputError(f"{name} must be a dictionary of shapes by input, not {kind_of(value)}")
    found, free = {}, {}
    for key, shape in value.items():
        key = text(f"each name of {name}", key)
        what = f"the shape of input '{key}'"
        if isinstance(shape, (str, bytes)):
            raise InputError(f"{what} must be a list of whole numbers, not {kind_of(shape)}")
        try:
            extents = list(shape)
        except TypeError:
            raise InputError(f"{what} must be a list of whole numbers, not {kind_of(shape)}") from None
        found[key] = []
        for axis, extent in enumerate(extents):
            least, most, size = bounds(f"each extent of {what}", extent)
            found[key].append(most)
            if least < most:
                free.setdefault(key, []).append(_lathe.FreeSize(axis, least, most, size))
    return found, free


def bounds(name: str, value) -> tuple:
    """The least and the largest size, and what it is called."""
    if not isinstance(value, tuple):
        extent = whole_number(name, value, 1, 2**62)
        return extent, extent, ""
    if len(value) not in (2, 3):
        raise InputError(f"{name} must be a whole number, or a pair of the least and the largest")
    least = whole_number(name, value[0], 1, 2**62)
    most = whole_number(name, value[1], 1, 2**62)
    if least > most:
        raise InputError(f"{name} goes from the least to the largest, and {least} is more than {most}")
    return least, most, text(name, value[2]) if len(value) == 3 else ""
