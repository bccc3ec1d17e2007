"""Text on an output without UTF-8, which lacks some characters: those it lacks are replaced by the nearest in ASCII."""

import codecs
import io
import unicodedata
from typing import Final, TextIO

_ERRORS: Final = "truc-nearest"
_NEAREST: Final = {
    "“": '"',
    "”": '"',
    "«": '"',
    "»": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
}
"""Replacements for characters that are not a letter with an accent."""


def spell_nearest(output: TextIO) -> None:
    """Make sure that printing never fails because a character is missing."""
    if isinstance(output, io.TextIOWrapper) and not output.encoding.lower().startswith("utf"):
        codecs.register_error(_ERRORS, _nearest)
        output.reconfigure(errors=_ERRORS)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_in_ascii, error.object[error.start : error.end])), error.end


def _in_ascii(sign: str) -> str:
    """Return a character in ASCII, a letter without its accents; a question mark if nothing is near."""
    plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return _NEAREST.get(sign) or plain or "?"
