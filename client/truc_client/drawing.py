"""The table as lines of text: score, stake, tricks, cards, and whatever else the game at hand has.

A row stands here only while there is something to show in it.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from rich.text import Text

from truc_client.board import Board, leaders
from truc_client.faces import Faces
from truc_protocol.words import Speech, score_label, side_name, sign_label

_WIDTH: Final = 8

Part = tuple[str, str]


class Setting(NamedTuple):
    """What does not change in a match: the names, how cards look, and how the player is spoken to.

    Also what may be signed and said in the game, and which cards a turned-up card raises.
    """

    names: tuple[str, ...]
    faces: Faces
    speech: Speech
    target: int
    signs: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    raised: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Row(NamedTuple):
    """A line of the table: what it is about, and its parts, each with a style."""

    label: str
    parts: tuple[Part, ...]


def score_line(board: Board, setting: Setting) -> str:
    """Return the score of both sides."""
    return ", ".join(
        f"{side_name(side, setting.names, setting.speech)}"
        f" {score_label(board.score[side], setting.target, setting.speech)}"
        for side in (0, 1)
    )


def table_text(board: Board, setting: Setting) -> Text:
    """Return the table before a decision."""
    rows = [*_rows(board, setting)]
    width = max(_WIDTH, *(len(row.label) + 2 for row in rows))
    text = Text()
    for number, row in enumerate(rows):
        text.append(("\n" if number else "") + row.label.ljust(width))
        for part, style in row.parts or (("-", ""),):
            text.append(part, style)
    return text


def _rows(board: Board, setting: Setting) -> Iterator[Row]:
    said = setting.speech.catalogue.screen
    yield _plain(said["score"], score_line(board, setting))
    yield from _roles(board, setting)
    yield _plain(said["stake"], _stake(board, setting))
    yield from _turned_up(board, setting)
    if board.duel is not None:
        yield _plain(setting.speech.term("duel"), " - ".join(setting.names[seat] for seat in board.duel))
    yield _plain(said["tricks"], _tricks(board, setting))
    yield Row(said["table"], tuple(_laid(board, setting)))
    yield from _heard(board, setting)
    if board.orders:
        given = ", ".join(f"{order} ({setting.names[seat]})" for seat, order in board.orders)
        yield _plain(said["order"], given)
    for seat, cards in board.partners:
        yield Row(
            said["partner"].format(seat=setting.names[seat]), tuple(_card(card, setting) for card in cards)
        )
    yield _own(board, setting)


def _turned_up(board: Board, setting: Setting) -> Iterator[Row]:
    if board.turned_up is None:
        return
    yield Row(setting.speech.term("turn-up"), (_card(board.turned_up, setting),))
    if raised := setting.raised.get(board.turned_up):
        yield Row(setting.speech.catalogue.screen["raised"], tuple(_card(card, setting) for card in raised))


def _plain(label: str, text: str) -> Row:
    return Row(label, ((text, ""),) if text else ())


def _roles(board: Board, setting: Setting) -> Iterator[Row]:
    if board.dealer is None:
        return
    yield _plain(setting.speech.term("dealer"), setting.names[board.dealer])
    role = setting.speech.local.leaders
    if seats := leaders(board, role):
        yield _plain(setting.speech.term(role), ", ".join(setting.names[seat] for seat in seats))


def _stake(board: Board, setting: Setting) -> str:
    speech, stake = setting.speech, setting.speech.stake(board.stake)
    if board.asked is None:
        return stake
    seat, asked = board.asked
    told = speech.catalogue.screen["asked"].format(seat=setting.names[seat], stake=speech.stake(asked))
    return f"{stake}; {told}"


def _tricks(board: Board, setting: Setting) -> str:
    tied = setting.speech.local.facts.get("trick_tied") or setting.speech.catalogue.screen["tied"]
    return ", ".join(
        tied if side is None else side_name(side, setting.names, setting.speech) for side in board.tricks
    )


def _laid(board: Board, setting: Setting) -> Iterator[Part]:
    face_down = setting.speech.catalogue.screen["face_down"]
    for seat, card in board.laid:
        yield f"{setting.names[seat]} ", ""
        yield (f"{face_down}  ", "dim") if card is None else _card(card, setting)


def _card(card: str, setting: Setting) -> Part:
    return f"{setting.faces.card(card)}  ", setting.faces.colour(card)


def _heard(board: Board, setting: Setting) -> Iterator[Row]:
    said, speech = setting.speech.catalogue.screen, setting.speech
    if board.values:
        yield _plain(said["values"], ", ".join(f"{setting.names[seat]} {n}" for seat, n in board.values))
    if board.signs:
        signs = (
            f"{setting.names[seat]} {sign_label(word, speech.lang, speech.words)}"
            for seat, word in board.signs
        )
        yield _plain(said["signs"], ", ".join(signs))


def _own(board: Board, setting: Setting) -> Row:
    said = setting.speech.catalogue.screen
    if board.is_blind and not board.cards:
        return _plain(said["cards"], said["unseen"])
    return Row(said["cards"], tuple(_card(card, setting) for card in board.cards))
