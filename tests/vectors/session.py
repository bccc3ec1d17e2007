"""Draw docs/session.svg: a match as one player's screen shows it, replayed from a transcript of a game that was played.

    PYTHONPATH=tests:protocol:server:client python -m vectors.session

The screen is the client's own and the options are those of the rules, so that the picture cannot show what the client does
not. Of the player's decisions two are shown as they were asked, so that the picture stays short. A test holds it to what this
makes.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich.console import Console

from truc_client.course.annotating import Annotated, Annotator, OpenedDeal
from truc_client.happenings import (
    CardsDealt,
    Choice,
    Happening,
    MatchEnded,
    MatchStarted,
    RecordSeen,
    YourTurn,
)
from truc_client.terminal.answers import numbered
from truc_client.terminal.screen import Screen
from truc_protocol.acts import read_act
from truc_protocol.audit import Auditor
from truc_protocol.bodies import Act
from truc_protocol.ledger import Ledger, learn
from truc_protocol.records import Record, parse
from truc_protocol.transcript import read_document_item, read_records
from truc_rules import Seat, hints, legal, move_line

TRANSCRIPT: Final = Path(__file__).with_name("session.truc")
PICTURE: Final = Path(__file__).parents[2] / "docs" / "session.svg"
SEAT: Final = Seat(0)
_WIDTH: Final = 96
_SHOWN: Final = ("envido", "raise")
"""The kinds of decisions that are shown as they were asked; of the others only what came of them."""
_FONTS: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Rich names fonts on somebody else's server; the reader's own do."""


def made() -> str:
    """Return the picture."""
    console = Console(
        file=io.StringIO(),
        record=True,
        width=_WIDTH,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        _environ={},
    )
    screen = Screen(console)
    screen.say("$ truc play", "bold")
    for happening in _happenings(TRANSCRIPT.read_bytes()):
        if isinstance(happening, str):
            screen.say(happening)
        else:
            screen.show(happening)
    return _FONTS.sub("", console.export_svg(title="truc", unique_id="session"))


def _happenings(file: bytes) -> Iterator[Happening | str]:
    """Yield what the player saw, and what they typed."""
    annotator = Annotator(file)
    annotated = tuple(annotator.records())
    cards = _own_cards(annotated)
    document, rest = read_document_item(file)
    auditor = Auditor(document)
    for record, each in zip(read_records(file, rest), annotated, strict=True):
        before = auditor.ledger
        if before is not None:
            yield from _decision(before, record, cards)
        auditor.feed(record)
        after = auditor.ledger
        if before is None and after is not None:
            yield _started(after, each)
        elif before is not None:
            yield RecordSeen(each.place, each.kind, each.facts)
        if each.kind == "deal":
            yield CardsDealt(cards)
    yield MatchEnded(annotator.verdict(), TRANSCRIPT)


def _own_cards(records: tuple[Annotated, ...]) -> tuple[str, ...]:
    """Return the player's cards in the one hand of the match."""
    (opened,) = [
        commitment
        for each in records
        for commitment in each.commitments
        if isinstance(commitment, OpenedDeal) and commitment.hands
    ]
    return opened.hands[-1][SEAT]


def _started(ledger: Ledger, begun: Annotated) -> MatchStarted:
    variant = ledger.setup.terms.variant
    return MatchStarted(
        ledger.setup.mid,
        variant.name,
        variant.pack,
        begun.names,
        SEAT,
        ledger.setup.level,
        TRANSCRIPT,
        words=variant.words,
        target=variant.scoring.target,
    )


def _decision(ledger: Ledger, record: Record, cards: tuple[str, ...]) -> Iterator[Happening | str]:
    """Yield what the player was asked, and the number they typed, if the record is their answer and to be shown."""
    body = parse(record)
    if not isinstance(body, Act) or body.seat != SEAT or body.kind not in _SHOWN:
        return
    pack = ledger.setup.terms.variant.pack
    match = learn(ledger, SEAT, [pack.index(card) for card in cards]).match
    if match is None:
        raise ValueError("expected a match that has begun")
    choices = {
        action: Choice(move_line(match.variant, action), str(action.kind), dict(hints(match, action)))
        for action in legal(match, SEAT)
    }
    turn = YourTurn(ledger.k, 0, tuple(choices.values()), must=True, deadline_ms=None)
    yield turn
    chosen = read_act(SEAT, body.kind, body.args, deck=len(pack))
    yield str(numbered(turn).index(choices[chosen.action]) + 1)


def text_of(picture: str) -> list[str]:
    """Return what a picture says: two versions of rich may draw the same text otherwise."""
    return re.findall(r"<text [^>]*>(.*?)</text>", picture)


if __name__ == "__main__":
    PICTURE.write_text(made(), "utf-8")
