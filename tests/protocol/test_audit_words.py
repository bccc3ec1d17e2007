"""What rests on somebody's word is kept as it grows, without copies of what was heard before."""

from msgspec.structs import replace
from protocol.peers import Table

from truc_protocol.audit.verdict import Words
from truc_protocol.bodies import Proxy


def proxies(count: int) -> Words:
    ledger, words = Table().to("hand").ledger, Words()
    for k in range(count):
        body = Proxy(b"m" * 32, k, b"h" * 32, 1, 0, "order", ("low",))
        words = words.heard(replace(ledger, k=k), body)
    return words


def test_words_are_told_in_order():
    assert [k for k, _ in proxies(20).told().proxies] == list(range(20))


def test_words_stand_upon_those_before_them():
    words = proxies(3)
    before = words.before
    assert (len(words.told().proxies), len(before.told().proxies)) == (3, 2)
    assert before.before is words.before.before


def test_very_many_words_are_told():
    assert len(proxies(100_000).told().proxies) == 100_000
