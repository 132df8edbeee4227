"""What can go wrong, as exceptions: one sentence each, the command line's own.

The sentences are the library's, handed over by `raise` in python/module.cpp; those of arguments stand in _check.py and
_arrays.py.
"""


class Error(Exception):
    """What Lathe could not do. `kind` is a word of ErrorKind (include/lathe/result.h), such as "io"."""

    kind = "io"


class InputError(Error, ValueError):
    """The caller's input is at fault: a formula, a file, an array, an option."""

    kind = "invalid_argument"


_INPUT_KINDS = {"invalid_argument", "parse", "not_found", "unsupported"}


def error_of(kind: str, sentence: str) -> Error:
    """The exception for an error of this kind."""
    error = (InputError if kind in _INPUT_KINDS else Error)(sentence)
    error.kind = kind
    return error
