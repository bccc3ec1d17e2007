"""Table options: what the creator of a table may choose, read into the game and the terms of its matches."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeVar, get_args

from truc_protocol.errors import Code
from truc_protocol.records import BLIND
from truc_protocol.setup import TERM_RANGES, Opts, blind_hindrance, why_no_term
from truc_rules import TABLE_OPTIONS, UnknownOptionError, Variant, VariantError, nearest_hint, with_options
from truc_server.net.peer import RefusedRequestError, wrong_field
from truc_server.settings.settings import Claim, MatchDefaults, Readers
from truc_server.settings.variants import VariantCatalogue

ChosenOptions = Mapping[str, int | str]

WATCH_NOTHING, WATCH_LIVE, WATCH_BY_HAND, WATCH_LATE = range(4)
"""What watchers are shown: nothing, records at once, or records when the hand is closed; WATCH_LATE + s: s seconds late."""

TRANSCRIPT: Final = "transcript"
"""The option that says who may read the records of a match when it is over; neither a term nor of the rules."""

CLAIM: Final = "claim"
"""The option that says who ends a match against a side that is gone; neither a term nor of the rules."""

MODE: Final = "mode"
"""The option that says who deals: the server, or the seats among themselves. It is a term of its own, not one of `opts`."""

CLAIMS: Final[tuple[Claim, ...]] = get_args(Claim)
READERS: Final[tuple[Readers, ...]] = get_args(Readers)
Mode = Literal["dealt", "blind"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
MOST_SEALED: Final = 104
"""Cards of a pack that a seat can mask: its record of some 68 bytes a card must fit a frame."""
_KEPT_OPTIONS: Final = (TRANSCRIPT, CLAIM, MODE)


_Word = TypeVar("_Word", bound=str)


class ChosenGame(NamedTuple):
    """A game with its options, its terms, who may read its records, who ends it against a side that is gone, and who deals."""

    variant: Variant
    opts: Opts
    transcript: Readers
    claim: Claim
    mode: Mode = "dealt"


def offered_game(catalogue: VariantCatalogue, name: str) -> Variant:
    """Return a game that the server plays.

    Raises:
        RefusedError: It plays none of that name.
    """
    try:
        return catalogue.named(name)
    except VariantError as error:
        raise RefusedRequestError(Code.NO_SUCH_VARIANT, str(error), field="variant") from error


def wrong_seats(variant: Variant, count: int) -> RefusedRequestError:
    """Return the refusal of a number of seats that a game does not have."""
    numbers = " or ".join(map(str, variant.players))
    return wrong_field("seats", f"{numbers}, got {count}", Code.BAD_OPTION)


def choose(
    variant: Variant, seats: int | None, options: ChosenOptions, defaults: MatchDefaults
) -> tuple[ChosenGame, int]:
    """Return what `options` make of a game, and the number of seats.

    Raises:
        RefusedError: No such option, value or number of seats.
    """
    count = min(variant.players) if seats is None else seats
    if count not in variant.players:
        raise wrong_seats(variant, count)
    opts = chosen_terms(options, count, defaults)
    chosen = with_kept_options(_house_rules(variant, options), opts, options, defaults)
    if chosen.mode == BLIND:
        _check_blind(chosen)
    return chosen, count


def with_kept_options(
    variant: Variant, opts: Opts, options: ChosenOptions, defaults: MatchDefaults
) -> ChosenGame:
    """Return a game and its terms with what the table keeps beside them.

    Raises:
        RefusedError: A word that such an option does not take.
    """
    transcript = _word(options, TRANSCRIPT, READERS, defaults.transcript)
    claim = _word(options, CLAIM, CLAIMS, defaults.claim)
    return ChosenGame(variant, opts, transcript, claim, _word(options, MODE, MODES, "dealt"))


def _check_blind(chosen: ChosenGame) -> None:
    """Check that a game can be played where the host sees no card.

    Raises:
        RefusedError: It cannot; the message says why.
    """
    hindrance = blind_hindrance(chosen.variant, chosen.opts.guests)
    if len(chosen.variant.pack) > MOST_SEALED:
        hindrance = f"expected a pack of at most {MOST_SEALED} cards"
    if hindrance is not None:
        raise RefusedRequestError(Code.BAD_OPTION, f"mode blind: {hindrance}", field="options/mode")


def _word(options: ChosenOptions, option: str, words: tuple[_Word, ...], default: _Word) -> _Word:
    chosen = options.get(option, default)
    for word in words:
        if word == chosen:
            return word
    message = f"{option}: expected {' or '.join(words)}, got {chosen!r}"
    raise RefusedRequestError(Code.BAD_OPTION, message, field=f"options/{option}")


def chosen_terms(options: ChosenOptions, seats: int, defaults: MatchDefaults) -> Opts:
    """Return the terms that `options` make of the server's defaults at a table of `seats`.

    Raises:
        RefusedError: A value that a term does not take.
    """
    chosen = {key: _term(key, value, seats) for key, value in options.items() if key in TERM_RANGES}
    opts = Opts(*defaults.opts())._replace(**chosen)
    if options.get(MODE) == BLIND and "guests" not in chosen:
        return opts._replace(guests=0)  # they have no secrets to shuffle with
    # a default of the host's that is too large for this table is no mistake of who makes it
    return opts._replace(guests=min(opts.guests, seats))


def raised_to_least(options: ChosenOptions) -> ChosenOptions:
    """Return options that an earlier version took, in which a term may be below what is now the least."""
    return {key: _raised(key, value) for key, value in options.items()}


def _raised(key: str, value: int | str) -> int | str:
    is_low = key in TERM_RANGES and isinstance(value, int) and 0 < value < TERM_RANGES[key].start
    return TERM_RANGES[key].start if is_low else value


def _house_rules(variant: Variant, options: ChosenOptions) -> Variant:
    for key, value in options.items():
        if key in TERM_RANGES or key in _KEPT_OPTIONS:
            continue
        try:
            # options.md: each is applied to the result of the one before, in the order of the map
            variant = with_options(variant, {key: value})
        except UnknownOptionError as error:
            known = (*TERM_RANGES, *_KEPT_OPTIONS, *TABLE_OPTIONS)
            like = nearest_hint(key, known)
            message = (
                f"{key}: expected an option{like}"
                if like
                else f"{key}: expected one of the options {', '.join(known)}"
            )
            raise RefusedRequestError(Code.BAD_OPTION, message, field=f"options/{key}") from error
        except VariantError as error:
            raise RefusedRequestError(Code.BAD_OPTION, str(error), field=f"options/{key}") from error
    return variant


def _term(key: str, value: int | str, seats: int) -> int:
    if (why := why_no_term(key, value, seats)) is not None:
        raise RefusedRequestError(Code.BAD_OPTION, why, field=f"options/{key}")
    return int(value)
