"""What somebody is told who plays for the first time: why things happened, and what each option would mean.

Everything is said from what the player's own screen shows and the order of the cards; nothing here sees more than they do.
What holds in every hand is said once. A suggestion is a beginner's: cards by what is on the table, answers to an ask by one's
best card; it neither bluffs nor reads bluffs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from truc_client.course.board import Board, Laid, answering
from truc_client.happenings import Choice, Fact, YourTurn
from truc_client.terminal.answers import numbered
from truc_client.terminal.drawing import Setting
from truc_protocol.card_order import order_line, stronger
from truc_protocol.house_variants import preset_called
from truc_protocol.words import move_meaning

Taught = Fact | YourTurn
"""What a lesson is about."""

Teach = Callable[[Taught, Board, Setting], Iterable[str]]
"""What a screen asks for lessons: what has come, with the table as it was before."""

Stronger = Mapping[str, int]

_PLAY, _RAISE, _STAKE = "play", "raise", "stake"
_ACCEPT, _DECLINE = "accept", "decline"
_GOOD_ENOUGH: Final = 5
"""A card is worth staying for if less than this part of the pack is stronger: one in five."""


def untaught(taught: Taught, board: Board, setting: Setting) -> Iterable[str]:
    """Teach nothing."""
    del taught, board, setting
    return ()


class Teacher:
    """Teaches a game that comes with the software, one player at one table."""

    def __init__(self, game: str) -> None:
        self._game = preset_called(game)
        self._said: set[str] = set()
        self._stronger = cache(lambda turned_up: stronger(self._game, turned_up))

    def __call__(self, taught: Taught, board: Board, setting: Setting) -> Iterator[str]:
        """Yield what there is to say of a fact or a turn, in the player's language."""
        if isinstance(taught, YourTurn):
            yield from self._once("hand", setting)
            yield from self._once("order", setting, order=order_line(self._game))
            yield from self._suits(setting)
            yield from _options(taught, board, setting, self._stronger(board.turned_up))
        else:
            yield from self._fact(taught, board, setting)

    def _once(self, key: str, setting: Setting, **values: object) -> Iterator[str]:
        if key not in self._said:
            self._said.add(key)
            yield _say(setting, key, **values)

    def _suits(self, setting: Setting) -> Iterator[str]:
        """Say once what the symbols of the suits are, where cards are shown with them."""
        legend = setting.faces.legend
        if not setting.faces.is_plain and legend not in self._said:
            self._said.add(legend)
            yield setting.speech.catalogue.screen[legend]

    def _fact(self, fact: Fact, board: Board, setting: Setting) -> Iterator[str]:
        match fact:
            case {"what": "hands_committed"}:
                yield from self._once("bound", setting)
            case {"what": "hands_opened"}:
                yield from self._once("opened", setting)
            case {"what": "turned_up", "card": card} if raised := setting.raised.get(card):
                yield _say(setting, "raised", cards=_cards(raised, setting))
            case {"what": "trick_won", "side": side}:
                yield from _why_won(board, setting, self._stronger(board.turned_up), side)
            case {"what": "trick_tied"}:
                yield from self._once("tied", setting)
            case {"what": "stake_asked", "seat": seat} if board.seat is not None and _is_other(seat, board):
                yield from self._once("asked", setting)
            case {"what": "points_scored", "reason": "hand" | "declined" as reason}:
                yield from self._once(f"scored-{reason}", setting)
            case _:
                pass


def _say(setting: Setting, key: str, **values: object) -> str:
    return setting.speech.catalogue.lessons[key].format(**values)


def _cards(cards: Iterable[str], setting: Setting) -> str:
    return " ".join(map(setting.faces.card, cards))


def _is_other(seat: int, board: Board) -> bool:
    """Tell whether a seat is of the other side."""
    return board.seat is None or (seat - board.seat) % 2 == 1


def best_laid(board: Board, counted: Stronger) -> Laid | None:
    """Return the first of the strongest cards on the table; None if none lies open."""
    laid = [each for each in board.laid if each.card in counted]
    return min(laid, key=lambda each: counted[str(each.card)], default=None)


def _why_won(board: Board, setting: Setting, counted: Stronger, side: int) -> Iterator[str]:
    best = best_laid(board, counted)
    if best is not None and best.card is not None and best.seat % 2 == side:
        yield _say(setting, "strongest", card=setting.faces.card(best.card), seat=setting.names[best.seat])


def _options(turn: YourTurn, board: Board, setting: Setting, counted: Stronger) -> Iterator[str]:
    """Yield what the numbered options mean, and which a beginner would take."""
    if not turn.must:
        return
    choices = numbered(turn)
    by_meaning: dict[str, list[str]] = {}
    for number, choice in enumerate(choices, start=1):
        by_meaning.setdefault(_meaning(choice, board, setting, counted), []).append(str(number))
    yield from (f"{', '.join(numbers)}. {meaning}" for meaning, numbers in by_meaning.items())
    suggested = suggestion(choices, board, counted)
    if suggested is not None:
        yield _say(setting, "suggestion", n=choices.index(suggested) + 1, move=suggested.line)


def _meaning(choice: Choice, board: Board, setting: Setting, counted: Stronger) -> str:
    """Say what an option means; of a card with an ask the ask, as the card has its own option."""
    card, with_ask, stake = choice.line.removeprefix(f"{_PLAY} ").partition(f" {_RAISE} ")
    if choice.kind == _PLAY and card in counted and not with_ask:
        return _of_card(card, board, setting, counted)
    line = f"{_RAISE} {stake}" if with_ask else choice.line
    return move_meaning(line, setting.speech, choice.hints, answering=answering(board))


def _of_card(card: str, board: Board, setting: Setting, counted: Stronger) -> str:
    """Say what a card would do to the trick as it stands."""
    best = best_laid(board, counted)
    shown = setting.faces.card(card)
    if best is None or best.card is None:
        return _say(setting, "leads", card=shown, n=counted[card], total=len(counted))
    values = {"card": shown, "best": setting.faces.card(best.card), "seat": setting.names[best.seat]}
    if counted[card] < counted[best.card]:
        return _say(setting, "beats", **values)
    if not _is_other(best.seat, board):
        return _say(setting, "partner", **values)
    return _say(setting, "ties" if counted[card] == counted[best.card] else "falls", **values)


def suggestion(choices: Iterable[Choice], board: Board, counted: Stronger) -> Choice | None:
    """Return what a beginner may do: the cheapest card that takes the trick, the best to lead; None where cards do not tell."""
    by_line = {choice.line: choice for choice in choices}
    plays = {card: by_line[f"{_PLAY} {card}"] for card in counted if f"{_PLAY} {card}" in by_line}
    if answering(board) == _STAKE and {_ACCEPT, _DECLINE} <= by_line.keys():
        return by_line[_ACCEPT if _is_worth_staying(board, counted) else _DECLINE]
    return plays[_card(plays, board, counted)] if plays else None


def _is_worth_staying(board: Board, counted: Stronger) -> bool:
    held = [counted[card] for card in board.cards if card in counted]
    return bool(held) and min(held) * _GOOD_ENOUGH < len(counted)


def _card(cards: Iterable[str], board: Board, counted: Stronger) -> str:
    from_strong = sorted(cards, key=counted.__getitem__)
    best = best_laid(board, counted)
    if best is None or best.card is None:
        return from_strong[0]
    if not _is_other(best.seat, board):
        return from_strong[-1]
    taking = [card for card in from_strong if counted[card] < counted[best.card]]
    return (taking or from_strong)[-1]
