"""What is played at a table, in one line for people, and in full, by the names of the table options."""

from collections.abc import Iterator
from typing import Final

from truc_protocol.messages import TableState
from truc_protocol.setup import Opts, read_opts
from truc_rules import VariantError, preset
from truc_words import Speech, time_label
from truc_words.primer import Primer

_SECOND: Final = 1000
_AIMS: Final = ("target", "match")
_SAID: Final = (*_AIMS, "decision_ms", "bank_ms", "guests")
"""The options that have words."""


def terms_line(state: TableState, speech: Speech) -> str:
    """Return the game, how far it goes, the time for a move and who signs; then what else is not as usual."""
    opts = read_opts(state.opts)
    unusual = dict(set(opts._asdict().items()) - set(Opts()._asdict().items()))
    chosen = [
        f"{name}={value}" for name, value in sorted({**unusual, **state.options}.items()) if name not in _SAID
    ]
    signed = speech.say("screen.guests_admitted" if opts.guests else "screen.everybody_signs")
    parts = (speech.say("screen.game_for", game=state.variant, n=state.n), *_goal(state, speech))
    return ", ".join((*parts, _pace(opts, speech), signed, *chosen))


def _goal(state: TableState, speech: Speech) -> Iterator[str]:
    """Yield what wins a game and how many games make the match, as far as this client knows the game."""
    try:
        primer = Primer(preset(state.variant))
    except VariantError:  # a game of the server's own: its rules come with the match
        return
    target, games = (
        int(state.options.get(name, own))
        for name, own in zip(_AIMS, (primer.target, primer.games), strict=True)
    )
    counted = "unit" if primer.is_counted_in_units else "point"
    yield speech.say(
        "screen.to_target", target=Speech(speech.lang, primer.variant.words).counted(counted, target)
    )
    if games > 1:
        yield speech.say("screen.best_of", n=games)


def _pace(opts: Opts, speech: Speech) -> str:
    if not opts.decision_ms:
        return speech.say("screen.no_hurry")
    values = {"time": time_label(opts.decision_ms / _SECOND), "bank": time_label(opts.bank_ms / _SECOND)}
    return speech.say("screen.pace_with_bank" if opts.bank_ms else "screen.pace", **values)


def terms_in_full(state: TableState, speech: Speech) -> str:
    """Return every term, by the names of the table options."""
    chosen = {"game": state.variant, "seats": state.n, **read_opts(state.opts)._asdict(), **state.options}
    options = ", ".join(f"{name}={value}" for name, value in chosen.items())
    return speech.say("screen.table_options", options=options)
