import stat
from contextlib import closing

import pytest

from truc_client.errors import HomeError, SignedBeforeError
from truc_client.home.store import AcceptedPlace, HeldChain, HomeStore, Joined, Slot, Statement
from truc_protocol.bodies import Act, Rekey, Resign, Sub
from truc_protocol.records import encode
from truc_protocol.wire.handshake import Pin

TH, TN, SERVER, MID, HEAD = (bytes([value]) * 32 for value in range(1, 6))
ACT = Slot("act", 7)
X = b"x" * 32
PLACE = AcceptedPlace(7, HEAD, X, 3)
CHAIN = HeldChain(X, 0, b"root", b"secret")


def statement(text: str) -> Statement:
    return Statement(text.encode(), b"\x07" * 64)


def join(store: HomeStore) -> None:
    store.join(Joined(TH, TN, SERVER, "TABLE", 0), CHAIN, statement("seat"))
    store.begin(TH, MID)


def test_file_is_for_its_owner_alone_and_writes_are_forced_to_the_disk(store, tmp_path) -> None:
    assert stat.S_IMODE((tmp_path / "state.sqlite").stat().st_mode) == 0o600
    assert store._database.execute("PRAGMA synchronous").fetchone() == (2,)


def test_same_body_for_a_place_gives_the_stored_bytes_and_another_is_refused(store) -> None:
    join(store)
    first = store.keep_statement(MID, ACT, statement("first"), PLACE)
    assert store.keep_statement(MID, ACT, statement("first"), PLACE) == first
    with pytest.raises(SignedBeforeError):
        store.keep_statement(MID, ACT, statement("second"), PLACE)


def test_only_a_new_chain_gives_way_to_another_once_the_server_has_refused_it(store) -> None:
    join(store)
    place, kept = (MID, 7, HEAD), {}
    for n, body in enumerate(
        (
            Act(*place, 1, 0, "stand", ()),
            Resign(*place, 0),
            Rekey(*place, 1, 1, HEAD, X),
            Sub(*place, 1, 0, X, HEAD, X, b""),
        )
    ):
        slot, signed = Slot("act", n), Statement(encode(body), bytes(64))
        store.keep_statement(MID, slot, signed, PLACE)
        store.keep_refusal(MID, slot, b"refusal")
        kept[type(body)] = store.statement(MID, slot) == signed
    assert kept == {Act: True, Resign: True, Rekey: False, Sub: False}


def test_counter_of_a_box_may_be_as_high_as_it_has_room(store) -> None:
    join(store)
    store.keep_place(MID, PLACE._replace(counter=2**64 - 1))
    (chain,) = store.chains(TH)
    assert chain.counter > PLACE.counter


def fill(store: HomeStore) -> None:
    """Let the disk of a store have no more room than the store takes."""
    (pages,) = store._database.execute("PRAGMA page_count").fetchone()
    store._database.execute(f"PRAGMA max_page_count = {pages}")


def test_full_disk_takes_no_body_and_the_store_goes_on_when_there_is_room_again(store) -> None:
    join(store)
    fill(store)
    large = Statement(bytes(2**20), bytes(64))
    with pytest.raises(HomeError, match="full"):
        store.keep_statement(MID, ACT, large, PLACE)
    assert (store.statement(MID, ACT), store.playing(MID).k) == (None, None)
    store._database.execute("PRAGMA max_page_count = 100000")
    assert store.keep_statement(MID, ACT, large, PLACE) == large


def test_why_something_was_stopped_is_kept_and_the_first_reason_counts(tmp_path) -> None:
    with closing(HomeStore(tmp_path / "state.sqlite")) as first:
        first.stop(MID, "C33: two histories")
        first.stop(MID, "another reason")
    with closing(HomeStore(tmp_path / "state.sqlite")) as again:
        assert (again.stopped(MID), again.stopped(TH)) == ("C33: two histories", None)


def test_secrets_do_not_show(store) -> None:
    join(store)
    assert not {"root", "secret"} & set(repr(store.chains(TH)).replace("'", '"').split('"'))


def test_pin_is_kept_replaced_and_forgotten(store) -> None:
    store.keep_pin("host:1", Pin(b"a" * 32, b"a" * 32, 0))
    store.keep_pin("host:1", Pin(b"a" * 32, b"b" * 32, 1))
    assert store.pins() == {"host:1": Pin(b"a" * 32, b"b" * 32, 1)}
    assert store.forget_pin("host:1")
    assert store.pin("host:1") is None


def test_file_of_a_newer_client_is_left_alone(tmp_path) -> None:
    store = HomeStore(tmp_path / "state.sqlite")
    store._database.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(HomeError, match="newer client"):
        HomeStore(tmp_path / "state.sqlite")
