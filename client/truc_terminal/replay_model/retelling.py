"""What a record of a transcript says, in sentences of the reader's language.

What players say and do is told as on a player's screen, with the words of the game. What the screen shows in other
ways, and what makes or opens a commitment, has its own sentences here.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple, assert_never

from truc_client.happenings import Fact
from truc_protocol.records import BLIND
from truc_protocol.setup import Opts
from truc_terminal.replay_model.annotating import (
    Annotated,
    BegunChain,
    Commitment,
    CommittedHand,
    OpenedCard,
    OpenedDeal,
    OpenedLink,
    OpenedSecret,
)
from truc_terminal.replay_model.faces import short
from truc_terminal.verdicts import game_name, named_seat, quoted, quoted_name, score_words, seat_name
from truc_words import Speech, as_told, tell

_SCORED: Final = ("close", "end")
_OF_THE_PACK: Final = ("mask", "lock", "keys", "lend", "garbled")
"""What seats do with the pack in mode blind; it is no move, so no fact tells it."""


class RecordTelling(NamedTuple):
    """A record, to be told in a language."""

    record: Annotated
    lang: str

    @property
    def speech(self) -> Speech:
        """The language, with the words of the game."""
        return Speech(self.lang, self.record.words)

    @property
    def names(self) -> tuple[str, ...]:
        """The players by seat, in quotes."""
        return tuple(quoted_name(name, seat) for seat, name in enumerate(self.record.names))

    def sentences(self) -> Iterator[str]:
        """Yield what the record says, one sentence for each fact that has one, in the words of the game."""
        if self.record.kind in _OF_THE_PACK and self.record.refutation is None:
            yield self.said(self.record.kind, who=self.role(self.record.signer))
        yield from filter(None, map(self.told, as_told(self.record.facts)))
        # The card is told with the next record, which opens it (specification.md, "Acts", Blind hands).
        if self.record.is_unseen and self.record.seat is not None:
            yield self.said("unseen", who=self.names[self.record.seat])

    def told(self, fact: Fact) -> str:
        """Return the sentence for one fact of the record; empty if there is none."""
        # First the sentence of a player's screen, so that a match is told in the same words there and here.
        return tell(fact, self.names, speech=self.speech) or self.plainly(fact)

    def role(self, role: int) -> str:
        """Return the name of a role: a player always with the seat, as a name may be anything."""
        names, seat = self.record.names, role - 1
        if role == 0:
            return self.speech.say("said.the_server")
        return (
            named_seat(names[seat], seat, self.speech) if role <= len(names) else seat_name(seat, self.speech)
        )

    def plainly(self, fact: Fact) -> str:
        """Return the sentence for what a player's screen shows in other ways; empty if there is none."""
        match fact["what"]:
            case "called":
                return self._called(fact)
            case "released" | "acked":
                return self.said(fact["what"], who=self.role(fact["seat"] + 1))
            case "hand_closed":
                return self.said("hand_closed" if fact["reason"] == "hand" else "hand_cut")
            # Every record has this fact; a score is news only where a hand or the match ends.
            case "state":
                return self._score(fact) if self.record.kind in _SCORED else ""
            case _:
                return self._of_setup(fact)

    def opened(self) -> Iterator[str]:
        """Yield what the record commits to, and what it opens."""
        return chain.from_iterable(map(self._commitment, self.record.commitments))

    def _commitment(self, commitment: Commitment) -> Iterator[str]:
        match commitment:
            case BegunChain(role, first, anchor):
                yield self.said("chain_begun", who=self.role(role), first=first, anchor=anchor.hex())
            case OpenedLink(role, number, first, link):
                yield self.said(
                    "link_opened", who=self.role(role), number=number, first=first, link=link.hex()
                )
            case CommittedHand():
                yield self._hand(commitment)
            case OpenedCard():
                yield self._card(commitment)
            case OpenedDeal():
                yield from self._deal(commitment)
            case OpenedSecret():
                yield self.said("secret_opened")
            case _:
                assert_never(commitment)

    def said(self, key: str, /, **values: object) -> str:
        """Return a text of the catalogue for records."""
        return self.speech.catalogue.records[key].format(**values)

    def _called(self, fact: Fact) -> str:
        if not fact["cards"]:
            return self.said("called-draw", index=fact["index"])
        cards = self.speech.counted("card", fact["cards"])
        return self.said("called", index=fact["index"], dealer=self.role(fact["dealer"] + 1), cards=cards)

    def _score(self, fact: Fact) -> str:
        names = [named_seat(name, seat, self.speech) for seat, name in enumerate(self.record.names)]
        return self.said("score", score=score_words(fact["score"], names, self.speech))

    def _of_setup(self, fact: Fact) -> str:
        match fact["what"]:
            case "table_offered":
                blind = [self.said("seats_deal")] if fact["mode"] == BLIND else []
                return self.speech.separated([self._offered(fact), *blind])
            case "seat_taken":
                return self.said("seat_taken", who=self.role(fact["seat"] + 1), key=fact["key"].hex())
            case "guest_seated":
                return self.said("guest_seated", who=self.role(fact["seat"] + 1))
            case "match_begun":
                return self.said("match_begun", match=fact["match"].hex(), level=fact["level"])
            case _:
                return ""

    def _offered(self, fact: Fact) -> str:
        return self.said(
            "table_offered",
            server=quoted(fact["server"]),
            game=game_name(fact["variant"], is_preset=fact["is_preset"], speech=self.speech),
            seats=fact["seats"],
            reveal=self.speech.catalogue.terms[fact["reveal"]],
            terms=", ".join(f"{name} {fact[name]}" for name in Opts._fields),
        )

    def _hand(self, hand: CommittedHand) -> str:
        cards, who = self.speech.counted("card", len(hand.leaves)), self.role(hand.seat + 1)
        return self.said("hand_committed", cards=cards, who=who, digest=short(hand.digest))

    def _card(self, it: OpenedCard) -> str:
        which = {"card": it.card, "slot": it.slot + 1, "who": self.role(it.seat + 1)}
        if it.salt is None:
            return self.said("card_keyed", **which)
        return self.said("card_opened", **which, salt=it.salt.hex(), leaf=short(it.leaf))

    def _deal(self, deal: OpenedDeal) -> Iterator[str]:
        if deal.seed is not None:
            yield self.said("deal_seed", j=deal.j, seed=deal.seed.hex())
            yield self.said("deal_pack", cards=" ".join(deal.pack))
        for d, hands in enumerate(deal.hands):
            yield self.said("deal_held-again" if d else "deal_held", held=self._cards_of(hands))
        if deal.up:
            yield self.said("deal_up", cards=" ".join(deal.up))
        if left := self._cards_of(deal.unplayed):
            yield self.said("deal_left", left=left)

    def _cards_of(self, hands: Sequence[Sequence[str]]) -> str:
        """Return the cards of each seat that has any."""
        held = (f"{self.role(seat + 1)} {' '.join(cards)}" for seat, cards in enumerate(hands) if cards)
        return self.speech.separated(held)
