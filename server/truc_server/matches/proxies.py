"""A guest's choice, by its move line, turned into the record that the server writes for it."""

from truc_protocol.checks import CheckError
from truc_protocol.errors import Code
from truc_protocol.messages import GuestAct
from truc_protocol.records import Record, parse
from truc_rules import Action, IllegalActionError, Kind, MoveError, Seat, apply, parse_move
from truc_server.connections.peer import RefusedError
from truc_server.matches.choices import args_of, open_actions
from truc_server.matches.game import Game
from truc_server.matches.signed import Accepted, code_of

ANY_TIME = (Kind.PAUSE, Kind.RESUME, Kind.RESIGN)


def accept_choice(game: Game, seat: int, choice: GuestAct) -> Accepted:
    """Take a guest's choice into the match.

    Raises:
        RefusedError: It is not taken.
    """
    last = game.chosen.get(seat)
    if last is not None and (last.at, last.choose, last.p) == (choice.at, choice.choose, choice.p):
        return Accepted(choice.at, is_repeat=True)
    k = _take(game, seat, choice)
    game.chosen[seat] = choice
    return Accepted(k, is_repeat=False)


def _take(game: Game, seat: int, choice: GuestAct) -> int:
    check_position(game, choice.at)
    action = _action(game, seat, choice)
    cut = choice.p if choice.p is not None else game.cut()
    record = _record(game, action, cut)
    try:
        return game.take(record, parse(record))
    except CheckError as error:
        raise RefusedError(code_of(error), str(error)) from error


def check_position(game: Game, at: int) -> None:
    """Check that what was sent is for the position that comes next.

    Raises:
        RefusedError: It is for another.
    """
    if at != game.ledger.k:
        code = Code.STALE_POSITION if at < game.ledger.k else Code.BAD_POSITION
        raise RefusedError(code, f"expected position {game.ledger.k}, got {at}")


def _action(game: Game, seat: int, choice: GuestAct) -> Action:
    try:
        action = parse_move(game.setup.terms.variant, Seat(seat), choice.choose)
    except MoveError as error:
        raise RefusedError(Code.ILLEGAL_ACTION, str(error), field="choose") from error
    if action.kind in ANY_TIME or action in open_actions(game.ledger, seat):
        return action
    raise _illegal(game, action)


def _illegal(game: Game, action: Action) -> RefusedError:
    if game.ledger.pause.active:
        return RefusedError(Code.PAUSED, "the match is paused")
    try:
        if game.ledger.match is not None:
            apply(game.ledger.match, action)
    except IllegalActionError as error:
        return RefusedError(Code(error.code), error.message)
    return RefusedError(Code.NOT_NOW, "nothing is to be decided now")


def _record(game: Game, action: Action, cut: int) -> Record:
    if action.kind in ANY_TIME:
        return game.dealer.proxy(game.ledger, action.seat, str(action.kind), ())
    args = args_of(game.ledger, game.dealer, action, cut)
    return game.dealer.proxy(game.ledger, action.seat, str(action.kind), args)
