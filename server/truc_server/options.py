"""Table options: what the creator of a table may choose, read into the game and the terms of its matches."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from truc_protocol.errors import Code
from truc_protocol.setup import GONE_SUBSTITUTE, Opts
from truc_rules import TABLE_OPTIONS, UnknownOptionError, Variant, VariantError, preset, with_options
from truc_server.peer import RefusedError

Options = Mapping[str, int | str]

_DAY_MS: Final = 86_400_000
RANGES: Final[Mapping[str, range]] = {
    "decision_ms": range(_DAY_MS + 1),
    "bank_ms": range(_DAY_MS + 1),
    "release_ms": range(1_000, _DAY_MS + 1),
    "voids": range(101),
    "gone": range(3),
    "guests": range(17),
    "rekeys": range(101),
    "pause_ms": range(_DAY_MS + 1),
    "spectators": range(3),
    "gone_after": range(101),
}
"""What each of the terms may be set to."""


class Chosen(NamedTuple):
    """A game with its options, and the terms it is played under."""

    variant: Variant
    opts: Opts


def choose(name: str, seats: int | None, options: Options, defaults: Opts) -> tuple[Chosen, int]:
    """Return what `options` make of a preset, and the number of seats.

    Raises:
        RefusedError: No such game, option or value.
    """
    try:
        variant = preset(name)
    except VariantError as error:
        raise RefusedError(Code.NO_SUCH_VARIANT, str(error), field="variant") from error
    count = min(variant.players) if seats is None else seats
    if count not in variant.players:
        raise RefusedError(
            Code.BAD_OPTION, f"seats: expected one of {list(variant.players)}, got {count}", field="seats"
        )
    terms = {key: _term(key, value) for key, value in options.items() if key in RANGES}
    opts = defaults._replace(**terms)
    if opts.guests > count:
        if "guests" in terms:
            raise RefusedError(
                Code.BAD_OPTION,
                f"guests: expected at most {count}, got {opts.guests}",
                field="options/guests",
            )
        opts = opts._replace(guests=count)
    return Chosen(_house_rules(variant, options), opts), count


def _house_rules(variant: Variant, options: Options) -> Variant:
    for key, value in options.items():
        if key in RANGES:
            continue
        try:
            variant = with_options(variant, {key: value})
        except UnknownOptionError as error:
            expected = ", ".join((*RANGES, *TABLE_OPTIONS))
            message = f"{key}: expected one of the options {expected}"
            raise RefusedError(Code.BAD_OPTION, message, field=f"options/{key}") from error
        except VariantError as error:
            raise RefusedError(Code.BAD_OPTION, str(error), field=f"options/{key}") from error
    return variant


def _term(key: str, value: int | str) -> int:
    allowed, field = RANGES[key], f"options/{key}"
    if type(value) is not int or value not in allowed:
        expected = f"{allowed.start} to {allowed.stop - 1}"
        raise RefusedError(Code.BAD_OPTION, f"{key}: expected {expected}, got {value!r}", field=field)
    if key == "gone" and value == GONE_SUBSTITUTE:
        raise RefusedError(Code.BAD_OPTION, "gone: substitution is not offered, expected 0 or 2", field=field)
    return value
