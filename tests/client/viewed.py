"""Screens that are looked at; views of a match, written as people write cards and plays; and matches of files, as stages."""

import io
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import trio
from protocol.forge import small
from protocol.peers import Table
from rich.console import Console

from truc_client import MatchStarted, RecordSeen
from truc_protocol.setup import Opts
from truc_rules import Card, Score, Seat, View, new_match, preset, view
from truc_rules.positions.match import Trick
from truc_terminal.replay_model.stages import ReplayedMatch, replay_of
from truc_terminal.screen.person import Lines, Typed
from truc_terminal.screen.screen import Screen

KEPT = Path(__file__).parents[1] / "vectors" / "transcripts"
TRANSCRIPTS = sorted(KEPT.glob("*.truc"))
FRENCH = KEPT / "truc-french.truc"


def started(
    variant: str = "truc-catalan", players: Sequence[str] = ("north", "east"), **more
) -> MatchStarted:
    """Return what is told when a match begins, to who sits in the first seat unless it is said otherwise."""
    given = {"pack": more.pop("pack", None) or preset(variant).pack, "seat": 0, **more}
    return MatchStarted(
        bytes(32), variant, players=tuple(players), level="A", transcript=Path("x.truc"), **given
    )


def seen(*facts: dict, view: View | None = None) -> RecordSeen:
    """Return a record that means these facts, and leaves the match as viewed."""
    return RecordSeen(8, "act", facts, view=view)


def voided() -> Table:
    """Return a match before its second deal: seat 1 was silent in the first, which is void."""
    table = Table(small(), opts=Opts(gone=1, voids=3)).to("called")
    table.silent = frozenset({1})
    table.run(until=lambda ledger: ledger.phase == "between")
    table.silent = frozenset()
    return table


def screen_of(
    lang: str = "en", *, terminal: bool = False, width: int = 200, height: int | None = None
) -> tuple[Screen, io.StringIO]:
    """Return a screen, at a terminal or not, and what is printed on it, without colours."""
    out = io.StringIO()
    return Screen(console_to(out, terminal=terminal, width=width, height=height), lang), out


def console_to(out: io.StringIO, *, terminal: bool = False, width: int, height: int | None = None) -> Console:
    return Console(
        file=out, force_terminal=terminal, width=width, height=height, highlight=False, color_system=None
    )


def printed(renderable: object, width: int) -> str:
    """Return what is printed where there is no terminal."""
    out = io.StringIO()
    console_to(out, width=width).print(renderable)
    return out.getvalue()


def typing(*typed: str | None, are_typed: bool = False) -> tuple[trio.MemorySendChannel[Typed], Lines]:
    """Return where somebody types on, and their lines, of which these are the first."""
    send, receive = trio.open_memory_channel[Typed](100)
    for text in typed:
        send.send_nowait(Typed(text))
    return send, Lines(receive, are_typed=are_typed)


@cache
def replayed_file(file: Path, lang: str = "en") -> ReplayedMatch:
    """Return the match of a transcript that no test changes, audited once."""
    return replay_of(file.read_bytes(), lang=lang)


def view_of(
    variant: str = "truc-catalan",
    seats: int = 2,
    *,
    seat: int | None = 0,
    cards: str = "",
    each: int = 3,
    tricks: Iterable[tuple[str, int | None]] = (),
    table: str = "",
    leader: int = 0,
    points: Sequence[int] = (0, 0),
    games: tuple[int, int] = (0, 0),
    dealer: int = 0,
    stake: int = 1,
    offers: tuple = (),
    up: str = "",
    orders: tuple = (None, None),
    waiting: Sequence[int] = (),
    stride: int = 1,
) -> View:
    """Return a view; tricks and the cards on the table are written as `SEAT CARD SEAT CARD`, `-` is a covered card."""
    game = preset(variant)
    pack, empty = game.pack, view(new_match(game, seats=seats, dealer=Seat(dealer)), None)
    own = [Card(pack.index(card)) for card in cards.split()]
    over = [(_plays(written, pack), side) for written, side in tricks]
    laid = _plays(table, pack)
    left = [list(range(each)) for _ in range(seats)]
    for at, card in [play for plays, _ in over for play in plays] + laid:
        slot = own.index(card) if at == seat and card in own else left[at][-1]
        left[at].remove(slot)
    done = tuple(_trick(plays, side) for plays, side in over)
    row = empty.row._replace(
        eldest=Seat(leader),
        stride=stride,
        leader=Seat(laid[0][0] if laid else leader),
        table=tuple(card for _, card in laid),
        tricks=done,
        left=tuple(map(tuple, left)),
    )
    return empty._replace(
        seat=None if seat is None else Seat(seat),
        games=games,
        score=tuple(Score(0, each) for each in points),
        deciders=tuple(map(Seat, waiting)),
        each=each,
        cards=tuple(own) if own else (None,) * each if seat is not None else (),
        up=(Card(pack.index(up)),) if up else (),
        row=row,
        bets=empty.bets._replace(stake=stake),
        offers=offers,
        orders=orders,
    )


def _plays(written: str, pack: tuple[str, ...]) -> list[tuple[Seat, Card]]:
    words = written.split()
    return [
        (Seat(int(at)), Card(-1 if card == "-" else pack.index(card)))
        for at, card in zip(words[::2], words[1::2], strict=True)
    ]


def _trick(plays: list[tuple[Seat, Card]], side: int | None) -> Trick:
    return Trick(plays[0][0], tuple(card for _, card in plays), side)
