"""A match that hidden flores have won is over: nothing that ends it otherwise comes out proven."""

from dataclasses import replace

import pytest
from protocol.forge import turn, until
from protocol.peers import Table, audit, here

from truc_protocol.audit import AuditError
from truc_protocol.bodies import Close, Deal
from truc_protocol.checks import CheckError
from truc_protocol.records import Record
from truc_rules import preset, with_options


def many_flores(reveal: str):
    """Return the Argentine game to seven with two suits only, so that three of four seats soon hold a flor."""
    game = with_options(preset("truco-argentino-flor"), {"reveal": reveal, "target": 7})
    pack = tuple(card for card in game.pack if card[-1] in "oe")
    order = tuple(entry for entry in game.order if any(entry in (card, card[:-1]) for card in pack))
    return replace(game, name="flores", pack=pack, order=order)


FIRST_SEED = {"hand": 65, "match": 87}
"""Those before it deal other cards."""


def won_by_a_hidden_flor(reveal: str) -> tuple[Table, int]:
    """Return a table whose match eldest's side has won, as only its partner's undeclared flor tells."""
    for seed in range(FIRST_SEED[reveal], 400):
        table = Table(many_flores(reveal), seats=4, seed=seed)
        until(table, Deal)
        table.step()
        eldest, hands = turn(table), table.ledger.match.hand.dealt.cards
        suits = [{table.ledger.match.variant.suits[card] for card in cards} for cards in hands]
        if all(len(suits[(eldest + step) % 4]) == 1 for step in range(3)):
            table.play("flor")
            table.add(table.act((eldest + 1) % 4, "flor-fold"))
            assert table.ledger.match.winner == eldest % 2
            return table, eldest
    raise AssertionError("no such deal")


@pytest.mark.parametrize("reveal", ["hand", "match"])
@pytest.mark.parametrize("how", ["abandon", "resign"])
def test_won_match_is_not_ended_otherwise(reveal, how):
    table, eldest = won_by_a_hidden_flor(reveal)
    table.careless()
    ending = (
        table.rule("abandon", None, "server")
        if how == "abandon"
        else table.players[eldest].resign(table.ledger)
    )
    table.add(ending)
    score = ((1, 0, 7), (0, 0, 0)) if eldest % 2 == 0 else ((0, 0, 0), (1, 0, 7))
    link = table.dealer._policy_link(table.ledger)
    close = Close(*here(table.ledger), table.ledger.deal_index, link, score, "ended")
    with pytest.raises((AuditError, CheckError), match="C24"):
        to_the_end(table, table.sign(close))


def to_the_end(table: Table, close: Record) -> None:
    table.ledger = audit(table.document, [*table.records, close]).ledger
    table.records = [*table.records, close]
    table.add(table.dealer._end(table.ledger))
    table.audit()
