"""What is said to a line that is no option: the rule that forbids what it means, and the option most like it.

Nothing here knows a rule: whoever follows the match says which one a move breaks.
"""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from truc_client.happenings import Choice, YourTurn
from truc_rules import KINDS, ArgShape
from truc_terminal.replay_model.board import Board
from truc_terminal.screen.drawing import Setting, short_label
from truc_terminal.screen.menu import menu
from truc_terminal.screen.questions import named, option_label, option_names, plain_text
from truc_terminal.screen.wrapping import MOST_SAID, said_again

_LIKE: Final = 0.6  # of what two texts have in common; below it the nearest option is a guess

WhyNot = Callable[[str], str | None]
"""What gives the key of the rule that a move line of the player breaks."""


def mistake(text: str, turn: YourTurn, board: Board, setting: Setting, why_not: WhyNot) -> str:
    """Return the sentence for a line that is none of the options of a turn."""
    say, got = setting.speech.say, said_again(text)
    rule = next(filter(None, map(why_not, _lines_meant(text, board, setting))), None)
    if rule is not None:
        told = say("screen.forbidden", got=got, why=say(f"forbidden.{rule}"))
    elif menu(turn, board):
        told = say("screen.expected", got=got)
    else:
        told = say("screen.expected_move", got=got, moves=named(turn.options, board, setting))
    nearest = _nearest(text, turn.options, board, setting)
    if nearest is None:
        return told
    return say("screen.nearest", told=told, option=short_label(option_label(nearest, board, setting)))


def _lines_meant(text: str, board: Board, setting: Setting) -> Iterator[str]:
    """Yield the move lines of the game that a text may mean, whether or not they are options now."""
    wanted = plain_text(text)
    yield from (f"play {card}" for place, card in enumerate(board.own, 1) if wanted == str(place))
    yield wanted
    for line in _lines(setting):
        if wanted in map(plain_text, option_names(Choice(line, line.split()[0], {}), board, setting)):
            yield line


def _lines(setting: Setting) -> Iterable[str]:
    """Return the lines that have names of their own: the words of the game, moves of one word, the cards."""
    alone = (str(kind) for kind, shape in KINDS.items() if shape is ArgShape.NONE)
    cards = (f"play {card}" for card in setting.pack)
    return dict.fromkeys((*setting.speech.local.moves, *alone, *cards))


def _nearest(text: str, options: Iterable[Choice], board: Board, setting: Setting) -> Choice | None:
    """Return the option with the name most like a text, if one is."""
    names = {
        plain_text(name): choice
        for choice in options
        for name in (choice.line, *option_names(choice, board, setting))
    }
    found = get_close_matches(plain_text(text[:MOST_SAID]), names, n=1, cutoff=_LIKE)
    return names[found[0]] if found else None
