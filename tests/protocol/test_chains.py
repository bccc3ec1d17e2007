"""Chains: every link, what is held, and what does not descend."""

import pytest
from rows import each_row

from truc_protocol.crypto import chains
from truc_protocol.crypto.chains import Chain, descends, links_below

PUBLIC, TN, ROOT = bytes(range(32)), bytes([0x11] * 32), bytes([0x22] * 32)


def chain(first=0, count=100):
    return Chain(PUBLIC, TN, ROOT, first=first, count=count)


def check(link, index, known=None, *, public=PUBLIC, tn=TN):
    return descends(public, tn, known=known or (0, chain().anchor), index=index, link=link)


@each_row("i", [7, 13])
def test_link_outside_the_chain_is_refused(i):
    with pytest.raises(ValueError, match="a link of 8 to 12, got"):
        chain(first=8, count=4).link(i)


@each_row(
    "root, first, count, said",
    [
        (ROOT, 0, 0, "1 to 4096 links"),
        (ROOT, 0, 4097, "1 to 4096 links"),
        (ROOT, -1, 4, "first index of 0 or more"),
        (ROOT[:31], 0, 4, "root of 32 bytes"),
    ],
)
def test_chain_that_cannot_be_is_refused(root, first, count, said):
    with pytest.raises(ValueError, match=said):
        Chain(PUBLIC, TN, root, first=first, count=count)


def test_chain_shows_no_link():
    assert repr(chain()) == f"Chain(public={PUBLIC!r}, tn={TN!r}, first=0, count=100)"


@pytest.fixture
def steps(monkeypatch):
    """The numbers of the links that were hashed, in the order in which they are hashed."""
    hashed = []

    def counted(public, tn, link, *, highest, lowest):
        hashed.extend(range(highest, lowest, -1))
        return links_below(public, tn, link, highest=highest, lowest=lowest)

    monkeypatch.setattr(chains, "links_below", counted)
    return hashed


@each_row("deals, hashed", [(32, 100), (101, 100 + (100 - 32) + (100 - 64) + (100 - 96))])
def test_chain_is_hashed_once_and_once_more_for_every_32_deals_beyond_the_first(steps, deals, hashed):
    steps.clear()
    made = chain()
    for i in range(deals):
        made.link(i)
    assert len(steps) == hashed


def test_link_that_was_passed_is_the_same_when_asked_for_again():
    made = chain()
    links = [made.link(i) for i in range(101)]
    assert [made.link(i) for i in range(100, -1, -1)] == links[::-1]


def test_link_descends_to_a_later_link_too():
    assert check(chain().link(60), 60, known=(59, chain().link(59)))


def test_link_of_wrong_length_does_not_descend_to_itself():
    assert not check(ROOT[:31], 5, known=(5, ROOT[:31]))


def test_more_than_4096_steps_are_not_walked(monkeypatch):
    def unexpected(*_arguments, **_named):
        raise AssertionError("a step was made")

    monkeypatch.setattr(chains, "links_below", unexpected)
    assert not check(ROOT, 4097, known=(0, ROOT))
