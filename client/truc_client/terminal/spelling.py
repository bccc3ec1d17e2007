"""Text on an output that has not all signs, as its encoding is not UTF-8: what it lacks is written with the nearest it has."""

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
"""How signs are written that are no letter with a mark."""


def spell_nearest(output: TextIO) -> None:
    """See to it that printing never fails for want of a sign."""
    if isinstance(output, io.TextIOWrapper) and not output.encoding.lower().startswith("utf"):
        codecs.register_error(_ERRORS, _nearest)
        output.reconfigure(errors=_ERRORS)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_in_ascii, error.object[error.start : error.end])), error.end


def _in_ascii(sign: str) -> str:
    """Return a sign in ASCII, a letter without its marks; a question mark for what has no likeness."""
    plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return _NEAREST.get(sign) or plain or "?"
