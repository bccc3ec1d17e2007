"""A guest's choice, by its move line, turned into the record that the server writes for it."""

from truc_protocol.bodies import Proxy
from truc_protocol.checks import CheckError
from truc_protocol.dealer import proxy
from truc_protocol.errors import Code
from truc_protocol.messages import GuestAct
from truc_protocol.records import unsigned
from truc_rules import Action, IllegalActionError, Kind, MoveError, Seat, apply, parse_move
from truc_server.matches.choices import args_of
from truc_server.matches.game import Game
from truc_server.net.peer import RefusedError
from truc_server.requests.signed import Accepted, code_of

ANY_TIME = (Kind.PAUSE, Kind.RESUME, Kind.RESIGN)


def accept_choice(game: Game, seat: int, choice: GuestAct) -> Accepted:
    """Take a guest's choice into the match.

    Raises:
        RefusedError: It is not taken.
    """
    chosen = choice.at, choice.choose, choice.p
    if game.chosen.get(seat) == chosen:
        return Accepted(choice.at, is_repeat=True)
    k = _take(game, seat, choice)
    game.chosen[seat] = chosen
    return Accepted(k, is_repeat=False)


def _take(game: Game, seat: int, choice: GuestAct) -> int:
    check_position(game, choice.at)
    action = _action(game, seat, choice)
    cut = choice.p if choice.p is not None else game.asking.cut(game.ledger)
    body = _body(game, action, cut)
    try:
        return game.take(unsigned(body), body)
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
    if action.kind in ANY_TIME or action in game.asking.options(game.ledger, seat):
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


def _body(game: Game, action: Action, cut: int) -> Proxy:
    args = () if action.kind in ANY_TIME else args_of(game.ledger, game.dealer, action, cut)
    return proxy(game.ledger, action.seat, str(action.kind), args)
