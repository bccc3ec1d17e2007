"""The player's screen, line by line: what happened in words, the table before each decision, the options with numbers.

On a terminal with colours and suit symbols, else in plain text that a script or a screen reader can use. Text that
came from other players is never read as markup.
"""

from collections.abc import Sequence
from itertools import zip_longest

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from truc_client.board import Board, after, with_cards
from truc_client.faces import Faces, faces_of, short
from truc_client.happenings import (
    CardsDealt,
    Fact,
    Happening,
    Interrupted,
    MatchEnded,
    MatchStarted,
    RecordSeen,
    Resumed,
    SeatTakenOver,
    TableChanged,
    TableClosed,
    Waiting,
    YourTurn,
)
from truc_client.verifying import LEVELS, verdict_lines
from truc_protocol.words import move_label, move_meaning, printable, shown_name, side_name, tell

_TICK, _PLAIN_TICK = "✓", "ok"


class Screen:
    """Shows one table to one player."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._names: list[str] = []
        self._seated = ""
        self._board = Board(0, None)
        self._faces = Faces(is_spanish=False, is_plain=True)

    @property
    def is_plain(self) -> bool:
        """Whether colours and symbols are left out."""
        return not self._console.is_terminal

    def say(self, text: str, style: str = "") -> None:
        """Print a line, or several; nothing in them is obeyed by the terminal."""
        for line in text.split("\n"):
            self._console.print(Text(printable(line), style=style), soft_wrap=True)

    def show(self, happening: Happening) -> None:
        """Show what happened."""
        match happening:
            case MatchStarted():
                self._begin(happening)
            case RecordSeen():
                for fact in happening.means:
                    self._tell(fact)
            case CardsDealt():
                self._board = with_cards(self._board, happening.cards)
            case YourTurn():
                self._ask(happening)
            case MatchEnded():
                self._end(happening)
            case _:
                self._note(happening)

    def _note(self, happening: Happening) -> None:
        match happening:
            case TableChanged(state):
                sitting = [seat for seat in state.seats if seat.name is not None]
                names = ", ".join(shown_name(seat.name or "", seat.seat) for seat in sitting)
                line = f"table {state.table}: {len(sitting)} of {state.n} seats taken: {names}"
                if state.state == "open" and line != self._seated:
                    self._seated = line
                    self.say(line, "dim")
            case Waiting(seats) if self._names:
                self.say(f"waiting for {' and '.join(self._names[seat] for seat in seats)}", "dim")
            case Interrupted(reason):
                self.say(f"{reason}; connecting again, your seat is kept", "yellow")
            case Resumed():
                self.say("connected; nothing is missing", "dim")
            case SeatTakenOver():
                self.say("your seat was taken over by another connection of yours", "yellow")
            case TableClosed(reason):
                self.say(f"the table is closed: {reason}", "yellow")
            case _:
                pass

    def _begin(self, started: MatchStarted) -> None:
        self._names = [shown_name(name, seat) for seat, name in enumerate(started.players)]
        self._faces = faces_of(started.pack, is_plain=self.is_plain)
        self._board = Board(len(self._names), started.seat)
        verb = "goes on" if started.resumed else "begins"
        self.say(f"A match of {started.variant} {verb}: {' - '.join(self._names)}", "bold")
        self.say(f"assurance level {started.level}: {LEVELS[started.level]}")

    def _tell(self, fact: Fact) -> None:
        self._board = after(self._board, fact)
        sentence = tell(fact, self._names, self._faces.card)
        match fact["what"]:
            case "hands_committed":
                self._show_commitments(fact["digests"])
            case "hands_opened":
                self._tick(fact["cards"])
            case "hand_closed":
                self._show_score()
            case _ if sentence is not None:
                self.say(f"  {sentence}")
            case _:
                pass

    def _show_commitments(self, digests: Sequence[bytes]) -> None:
        committed = "  ".join(
            f"{name} {short(digest)}" for name, digest in zip(self._names, digests, strict=False)
        )
        self.say(f"New cards. The server is bound to: {committed}", "cyan")

    def _tick(self, hands: Sequence[Sequence[str]]) -> None:
        tick = _PLAIN_TICK if self.is_plain else _TICK
        for name, digest, cards in zip_longest(self._names, self._board.digests, hands):
            opened = " ".join(self._faces.card(card) for card in cards or ())
            self.say(f"  {tick} {name} {short(digest or b'')}: {opened}", "green")

    def _show_score(self) -> None:
        self.say(f"Score: {self._score()}", "bold")

    def _score(self) -> str:
        sides = (f"{side_name(side, self._names)} {self._points(side)}" for side in (0, 1))
        return ", ".join(sides)

    def _points(self, side: int) -> str:
        games, upper, points = self._board.score[side]
        return f"{points}" + (f" (+{upper})" if upper else "") + (f", games {games}" if games else "")

    def _ask(self, turn: YourTurn) -> None:
        if turn.again:
            self.say("Somebody was faster; decide again.", "yellow")
        title = "your turn" if turn.must else "you may act"
        if self.is_plain:
            self.say(f"{title}\n{self._table()}")
        else:
            self._console.print(Panel(self._table(), title=title, expand=False))
        for number, choice in enumerate(turn.options, start=1):
            self.say(
                f"  {number}. {move_label(choice.line, choice.hints, self._faces.card)}  [{choice.line}]"
            )
        clock = f" ({turn.deadline_ms // 1000} s)" if turn.deadline_ms else ""
        self.say(f"Number, move, or ? for help{clock}:", "bold")

    def _table(self) -> Text:
        board, text = self._board, Text()
        text.append(f"score   {self._score()}\n")
        asked = f"; {self._names[board.asked[0]]} asks for {board.asked[1]}" if board.asked else ""
        text.append(f"stake   {board.stake}{asked}\n")
        tricks = " ".join("tied" if side is None else side_name(side, self._names) for side in board.tricks)
        text.append(f"tricks  {tricks or '-'}\n")
        text.append("table   ")
        for seat, card in board.laid:
            text.append(f"{self._names[seat]} ")
            text.append(f"{self._faces.card(card)}  ", self._faces.colour(card))
        text.append("\ncards   " if board.laid else "-\ncards   ")
        for card in board.cards:
            text.append(f"{self._faces.card(card)}  ", self._faces.colour(card))
        return text

    def explain(self, turn: YourTurn) -> None:
        """Explain the options one by one."""
        if not self.is_plain:
            self.say(self._faces.legend, "dim")
        for choice in turn.options:
            self.say(f"  {choice.line}: {move_meaning(choice.kind)}")
        self.say("  resign: give the match up.  quit: leave the terminal; your seat is kept.")

    def _end(self, ended: MatchEnded) -> None:
        for line in verdict_lines(ended.verdict):
            self.say(line)
