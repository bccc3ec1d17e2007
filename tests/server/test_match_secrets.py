"""What is secret of a match, and what a dealer makes of it again."""

import pytest
from protocol.peers import Table, secret

from truc_protocol.codec import enc
from truc_protocol.dealer import Dealer
from truc_protocol.ledger import Due, due
from truc_protocol.match_secrets import MatchSecrets, new_secrets
from truc_protocol.records import parse

LATER = ((3, bytes([4]) * 32), (6, bytes([5]) * 32))


@pytest.mark.parametrize("later", [(), LATER[:1], LATER])
def test_secrets_are_read_as_they_were_stored(later):
    secrets = new_secrets()._replace(later=later)
    assert MatchSecrets.from_bytes(secrets.to_bytes()) == secrets


def test_secrets_stored_before_chains_could_follow_are_read():
    root, x, tn, _ = new_secrets()
    assert MatchSecrets.from_bytes(enc([root, x, tn])) == MatchSecrets(root, x, tn)


def test_repr_shows_no_secret():
    assert repr(new_secrets()._replace(later=LATER)) == "MatchSecrets(...)"


def rekeyed() -> Table:
    """Return a match in which the server has begun its second chain."""
    table = Table("truc-french", links=1).run(until=lambda ledger: due(ledger) is Due.REKEY)
    table.add(table.dealer.rekey(table.ledger, secret("root", 2)))
    return table


def test_dealer_made_from_the_secrets_makes_the_same_records():
    table = rekeyed()
    assert table.dealer.secrets.later == ((1, secret("root", 2)),)
    again = Dealer(table.server, table.dealer.secrets, links=1)
    table.run(until=lambda ledger: due(ledger) is Due.DEAL)
    assert again.next_record(table.ledger) == table.dealer.next_record(table.ledger)


def test_dealer_gives_the_links_of_an_older_chain_too():
    table = Table("truc-french", links=1).run(until=lambda ledger: due(ledger) is Due.DRAW)
    draw, ledger = table.dealer.next_record(table.ledger), table.ledger
    again = Dealer(table.server, table.dealer.secrets._replace(later=LATER), links=1)
    assert again.next_record(ledger) == draw


@pytest.mark.parametrize(("later", "gives"), [((1, secret("root", 2)), True), ((1, bytes(32)), False)])
def test_rekey_from_other_secrets_is_told_apart(later, gives):
    table = rekeyed()
    other = Dealer(table.server, table.dealer.secrets._replace(later=(later,)), links=1)
    record = table.records[-1]
    assert other.reproduces(table.ledger, record, parse(record)) is gives
