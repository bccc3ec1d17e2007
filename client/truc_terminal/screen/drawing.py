"""The table as lines of text: score, stake, tricks, cards, and whatever else the game has.

Apart from score, stake, tricks, table and one's own cards, a row appears only while there is something to show in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Final, NamedTuple

from rich.text import Text

from truc_client.happenings import Fact
from truc_rules import Variant
from truc_terminal.replay_model.board import LaidTrick, ShownHand
from truc_terminal.replay_model.faces import Faces, short, stake_words, taker
from truc_terminal.screen.glyphs import ASCII, MANY, Glyphs
from truc_words import Speech, score_label, side_name, sign_label, tell
from truc_words.primer import Primer

_WIDTH: Final = 8

Part = tuple[str, str]


class MatchLook(NamedTuple):
    """What stays the same in a match: the names, how cards look, and how the player is spoken to.

    Also which signs and phrases the game has, which cards a turned-up card raises, the pack, the game's name and
    its rules.
    """

    names: tuple[str, ...]
    faces: Faces
    speech: Speech
    target: int
    signs: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    raised: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    pack: tuple[str, ...] = ()
    variant: str = ""
    rules: Variant | None = None


class TableRow(NamedTuple):
    """A line of the table: its label, and its parts, each with a style."""

    label: str
    parts: tuple[Part, ...]


def short_label(label: str) -> str:
    """Return a label without its explanation in brackets."""
    return label.partition(" (")[0]


def glyphs_of(faces: Faces) -> Glyphs:
    """Return the characters to draw with if cards look like this."""
    return ASCII if faces.is_plain else MANY


def score_line(board: ShownHand, setting: MatchLook) -> str:
    """Return the score of both sides."""
    return setting.speech.separated(_of_side(side, board, setting) for side in (0, 1))


def _of_side(side: int, board: ShownHand, setting: MatchLook) -> str:
    score = score_label(board.score[side], setting.target, setting.speech)
    return setting.speech.of(side_name(side, setting.names, setting.speech), score)


def sentence(fact: Fact, board: ShownHand, setting: MatchLook) -> str | None:
    """Return the sentence for a fact, given the board after it; None if it has none."""
    now = {"declined": board.stake} if fact["what"] == "stake_asked" else {}
    return tell({**fact, **now}, setting.names, setting.faces.card, setting.speech)


def committed_text(digests: Sequence[bytes], setting: MatchLook) -> str:
    """Return what the server is bound to at a deal, in short."""
    return "  ".join(f"{name} {short(digest)}" for name, digest in zip(setting.names, digests, strict=False))


def opened_lines(board: ShownHand, setting: MatchLook, hands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the opened cards of each seat, which were checked against its commitment."""
    tick = glyphs_of(setting.faces).opened
    for name, digest, cards in zip_longest(setting.names, board.memory.digests, hands):
        opened = " ".join(setting.faces.card(card) for card in cards or ())
        yield f"  {tick} {name} {short(digest or b'')}: {opened}"


def table_text(board: ShownHand, setting: MatchLook) -> Text:
    """Return the table before a decision."""
    rows = [*_rows(board, setting)]
    width = max(_WIDTH, *(len(row.label) + 2 for row in rows))
    text = Text()
    for number, row in enumerate(rows):
        text.append(("\n" if number else "") + row.label.ljust(width))
        for part, style in row.parts or (("-", ""),):
            text.append(part, style)
    return text


def _rows(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    said = setting.speech.catalogue.screen
    yield plain_row(said["score"], score_line(board, setting))
    yield from _roles(board, setting)
    yield plain_row(said["stake"], stake_words(board, setting.names, setting.speech))
    yield from turned_up(board, setting)
    yield from duel(board, setting)
    yield plain_row(said["tricks"], _tricks(board, setting))
    yield TableRow(said["table"], tuple(laid(board, setting)))
    yield from heard(board, setting)
    yield from orders(board, setting)
    for seat, _ in board.memory.partners:
        left = tuple(card_part(card, setting) for card in board.held_by(seat) if card is not None)
        yield TableRow(said["partner"].format(seat=setting.names[seat]), left)
    if board.seat is not None:
        yield _own(board, setting)
        yield from own_value(board, setting)


def turned_up(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield the turn-up, and the cards that it raises."""
    if board.turned_up is None:
        return
    yield TableRow(setting.speech.term("turn-up"), (card_part(board.turned_up, setting),))
    if raised := setting.raised.get(board.turned_up):
        has_pieces = setting.rules is not None and bool(setting.rules.counted)
        said = setting.speech.say("screen.pieces" if has_pieces else "screen.raised")
        yield TableRow(said, tuple(card_part(card, setting) for card in raised))


def duel(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield who plays whom, if two seats play each other."""
    if board.duel is not None:
        yield plain_row(setting.speech.term("duel"), " - ".join(setting.names[seat] for seat in board.duel))


def plain_row(label: str, text: str) -> TableRow:
    """Return a row without styles."""
    return TableRow(label, ((text, ""),) if text else ())


def _roles(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    if board.dealer is not None:
        yield plain_row(setting.speech.term("dealer"), setting.names[board.dealer])
        yield from leading(board, setting)


def leading(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield the seats that lead their sides, if any do."""
    role = setting.speech.local.leaders
    if seats := board.leaders(role):
        yield plain_row(setting.speech.term(role), ", ".join(setting.names[seat] for seat in seats))


def _tricks(board: ShownHand, setting: MatchLook) -> str:
    """Return who took each trick, and with which card."""
    return setting.speech.separated(
        taker(trick.side, setting.names, setting.speech) + _taking_card(trick, setting)
        for trick in board.tricks
    )


def _taking_card(trick: LaidTrick, setting: MatchLook) -> str:
    card = next((card for seat, card in trick.laid if seat == trick.best), None)
    return f" ({setting.faces.card(card)})" if card else ""


def laid(board: ShownHand, setting: MatchLook) -> Iterator[Part]:
    """Yield the cards on the table, each after the name of its seat."""
    face_down = setting.speech.say("screen.face_down")
    for seat, card in board.laid:
        yield setting.speech.of(setting.names[seat], ""), ""
        yield (f"{face_down}  ", "dim") if card is None else card_part(card, setting)


def card_part(card: str, setting: MatchLook) -> Part:
    """Return a card by rank and suit, with space after it."""
    return f"{setting.faces.card(card)}  ", setting.faces.colour(card)


def sign_of(word: str, setting: MatchLook) -> str:
    """Return the name of a sign."""
    return sign_label(word, setting.speech.lang, setting.speech.words)


def heard(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield the values said and the signs seen."""
    yield from said_values(board, setting)
    if board.memory.signs:
        signs = (
            setting.speech.of(setting.names[seat], sign_of(word, setting))
            for seat, word in board.memory.signs
        )
        yield plain_row(setting.speech.say("screen.signs"), ", ".join(signs))


def said_values(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield the values said, each after the name of its seat."""
    if board.memory.values:
        values = (setting.speech.of(setting.names[seat], n) for seat, n in board.memory.values)
        yield plain_row(setting.speech.say("screen.values"), ", ".join(values))


def orders(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield the orders in force."""
    if board.orders:
        given = ", ".join(f"{order} ({setting.names[seat]})" for seat, order in board.orders)
        yield plain_row(setting.speech.say("screen.order"), given)


def own_value(board: ShownHand, setting: MatchLook) -> Iterator[TableRow]:
    """Yield what one's own cards are worth in the bets on values, where the game has them and the cards are known."""
    known = [card for card in board.own if card is not None]
    if setting.rules is not None and known and len(known) == len(board.own):
        worth = Primer(setting.rules).worth(known, board.turned_up)
        if worth is not None:
            words = setting.speech.local
            label = words.reasons.get(worth[0], words.moves.get(worth[0], worth[0]))
            yield plain_row(label, str(worth[1]))


def _own(board: ShownHand, setting: MatchLook) -> TableRow:
    said = setting.speech.catalogue.screen
    if board.is_unseen:
        return plain_row(said["cards"], said["unseen"])
    return TableRow(said["cards"], tuple(card_part(card, setting) for card in board.cards))
