"""Values as a file of a variant has them, for messages: what came is shown as it was written.

This is for messages only: whole files are not written here. Invariant: every value that TOML can hold is shown in TOML.
"""

import json
from datetime import date, time
from typing import Final

_ENTRY: Final = 2
_PLAIN_BITS: Final = 64
"""Python refuses to write numbers of thousands of digits as decimals; TOML has none above 64 bits."""


def as_toml(value: object) -> str:
    """Write a value of a variant's file, or of `params`, in which a group is a tuple of names and values."""
    match value:
        case dict():
            return f"{{ {', '.join(f'{name} = {as_toml(item)}' for name, item in value.items())} }}"
        case tuple() if _is_group(value):
            return as_toml(dict(value))
        case list() | tuple():
            return f"[{', '.join(map(as_toml, value))}]"
        case _:
            return _plain(value)


def _is_group(value: tuple[object, ...]) -> bool:
    return bool(value) and all(
        isinstance(item, tuple) and len(item) == _ENTRY and isinstance(item[0], str) for item in value
    )


def _plain(value: object) -> str:
    match value:
        case bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value) if value.bit_length() <= _PLAIN_BITS else hex(value)
        case date() | time():
            return value.isoformat()
        case None:
            return "nil"  # not a value of TOML, but one of a rule document
        case _:
            return repr(value)
