"""A seat of the load generator with a key that makes its own options from records it has audited.

It costs the generator many times as much as a thin seat: what the server does for it is to be measured, not the pace.
"""

from typing import Any

from benchmarks.loop import tag_of, unpacked
from benchmarks.seats import KeyedSeat, Map

from truc_protocol.audit import Auditor, OwnSeat
from truc_protocol.own_steps import own_options
from truc_protocol.records import Record
from truc_protocol.wire.capabilities import OWN_OPTIONS


class RuledSeat(KeyedSeat):
    """A seat that runs the rules."""

    WANT = (OWN_OPTIONS,)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._auditor: Auditor | None = None

    def take(self, frame: memoryview) -> None:
        """Take a frame; whom the match waits for is what other seats need not know."""
        if tag_of(frame) == b"waiting":
            self.waiting(unpacked(frame))
        else:
            super().take(frame)

    def begin_match(self, message: Map) -> None:
        """Audit a match from its setup."""
        super().begin_match(message)
        own = None if self._x is None else OwnSeat(self.index, self._x)
        self._auditor = Auditor(message["doc"], own)
        for record in message["records"]:
            self._auditor.feed(Record(*record))

    def follow_up(self, message: Map) -> None:
        """Audit a record, and do what is due after it."""
        if self._auditor is not None:
            self._auditor.feed(Record(message["signer"], message["body"], message["sig"]))
        super().follow_up(message)

    def waiting(self, message: Map) -> None:
        """Find out what may be done, if the hand waits for this seat."""
        auditor, place = self._auditor, (message["match"], message["at"])
        if auditor is None or auditor.ledger is None or place != (self.match, self.next):
            return
        found = own_options(auditor.ledger, self.index, auditor.openings, message["seats"])
        options = [{"key": o.line, "kind": o.kind, "args": o.args, "hints": dict(o.hints)} for o in found]
        if self.index in message["seats"] or any("waits" in option["hints"] for option in options):
            self.board.offer(self, message["at"], options)
