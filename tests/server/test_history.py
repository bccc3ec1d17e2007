"""Pages of a match's records: what they hold, how large they are, who may have them; and which matches one has played."""

import pytest
from rows import each_row
from server.conftest import PATIENT, holder_of, in_hand, over, running, under
from server.gates import Gate
from server.substituting import step_in, with_newcomer
from trio.testing import wait_all_tasks_blocked

from truc_protocol.bodies import Guest
from truc_protocol.codec import enc, pack
from truc_protocol.records import Record, parse, tag_of
from truc_server.requests.history import MAX_BYTES
from truc_server.storage import AddPlayer, AddRecord, PlayerKind, SaveMatch

MADE = b"made up".ljust(32)


async def ask(client, mid, first=0, **fields):
    return await client.ask({"t": "history", "match": mid, "from": first, **fields})


async def stranger(server):
    return (await server.seat(seed=9)).client


def records_of(answer) -> list[Record]:
    return [Record(past["signer"], past["body"], past["sig"]) for past in answer["past"]]


def mid_of(seats) -> bytes:
    return seats[0].ledger.setup.mid


async def own(client, **fields):
    return await client.ask({"t": "matches", **fields})


def number(n) -> bytes:
    return n.to_bytes(32, "big")


async def with_matches(server, count):
    """Return a client who has had the seat of a guest in so many stored matches."""
    seat = await server.seat()
    guest = enc([tag_of(Guest), MADE, 0, None, "Núria".encode()])
    server.store.commit(
        [
            write
            for n in range(count)
            for write in (
                SaveMatch(number(n), "GONE", b"document", (Record(0, guest, b"s" * 64),), number(n), 2),
                AddPlayer(number(n), 0, seat.key.public, PlayerKind.KEY, 1_000 + n),
            )
        ]
    )
    return seat.client


async def with_records(server, count, *, means=1, body=b"body"):
    """Return a client, one of the players of a stored match of so many records."""
    seat = await server.seat()
    server.store.commit(
        [
            SaveMatch(MADE, "GONE", b"document", (Record(0, b"table", b"s" * 64),), MADE, 2),
            AddPlayer(MADE, 0, seat.key.public, PlayerKind.KEY, 0),
            *(
                AddRecord(MADE, k, 0, body, b"s" * 64, pack({"means": [{"fact": "f" * means}]}), 1, b"")
                for k in range(count)
            ),
        ]
    )
    return seat.client


class TestPages:
    async def test_records_are_those_that_were_sent_with_what_they_mean_and_from_zero_without_the_setup(
        self, server
    ):
        seats = await in_hand(server)
        answer = await ask(seats[0].client, mid_of(seats))
        names = ("signer", "body", "sig", "means")
        sent = [
            {name: record[name] for name in names if name != "means" or record[name]}
            for record in seats[0].client.came("record")
        ]
        assert (answer["past"], "doc" in answer, "setup" in answer) == (sent, False, False)

    async def test_page_is_as_long_as_64_records_a_limit_and_the_end_allow(self, server):
        client = await with_records(server, 100)
        for asked, told in (
            ({}, (64, 64, True)),
            ({"first": 64}, (36, 100, False)),
            ({"first": 2, "limit": 3}, (3, 5, True)),
            ({"limit": 1_000}, (64, 64, True)),
            ({"first": 100}, (0, 100, False)),
        ):
            answer = await ask(client, MADE, **asked)
            assert (len(answer["past"]), answer["k"], answer.get("more", False)) == told

    async def test_limit_of_zero_brings_the_setup_alone(self, server):
        answer = await ask(await with_records(server, 3), MADE, -1, limit=0)
        assert (answer["past"], answer["k"], answer["more"], answer["doc"]) == ([], 0, True, b"document")

    async def test_match_that_is_deleted_before_its_records_are_read_is_none_and_not_one_without_records(
        self, server, monkeypatch
    ):
        client, find = await with_records(server, 3), server.store.past_match

        def find_and_delete(mid):
            found = find(mid)
            server.store.delete_match(mid, before_ms=1 << 50)
            return found

        monkeypatch.setattr(server.store, "past_match", find_and_delete)
        answer = await ask(client, MADE, -1)
        assert (answer["t"], answer.get("code")) == ("error", "no_such_match")

    async def test_position_beyond_the_end_and_no_limit_and_no_match_are_refused(self, server):
        client = await with_records(server, 3)
        for answer, code, field in (
            (await ask(client, MADE, 4), "bad_position", "from"),
            (await ask(client, MADE, limit=0), "bad_message", "limit"),
            (await ask(client, b"?" * 32), "no_such_match", "match"),
        ):
            assert (answer["code"], answer["field"]) == (code, field)

    @pytest.mark.parametrize(("count", "means"), [(70, 1), (70, 900), (70, 5_000), (10, 50_000)])
    async def test_pages_of_long_records_are_within_their_bytes_and_have_no_hole(self, server, count, means):
        client, found = await with_records(server, count, means=means), 0
        answer = await ask(client, MADE, -1)
        while True:
            assert len(pack({"past": answer["past"]})) <= MAX_BYTES
            found += len(answer["past"])
            if not answer.get("more"):
                break
            answer = await ask(client, MADE, answer["k"])
        assert found == count

    async def test_one_record_longer_than_a_page_is_sent_alone(self, server):
        client = await with_records(server, 2, means=MAX_BYTES)
        assert len((await ask(client, MADE))["past"]) == 1


async def test_what_is_not_durable_yet_is_waited_for(server, monkeypatch):
    seats = await in_hand(server)
    mover, other = holder_of(seats)
    mid, gate, order = mid_of(seats), Gate(), []
    commit, past = server.store.commit, server.store.past_match

    def slow_commit(writes):
        gate.hold()
        commit(writes)
        order.append("commit")

    def noted_past(match):
        order.append("past")
        return past(match)

    monkeypatch.setattr(server.store, "commit", slow_commit)
    monkeypatch.setattr(server.store, "past_match", noted_past)
    await mover.client.send(mover.act_message(mover.options, mover.offered[0]))
    await gate.reached()
    number = await other.client.send({"t": "history", "match": mid, "from": 0})
    await wait_all_tasks_blocked(0.05)
    gate.open()
    reply = await other.client.until("ok", re=number)
    assert (order[:2], len(reply["past"]) > mover.next) == (["commit", "past"], True)


@under(PATIENT)
class TestSubstitutes:
    async def test_who_has_stepped_in_and_who_has_lost_the_seat_read_the_match(self, server, mock_clock):
        seats, newcomer = await with_newcomer(server, mock_clock, spectators=0)
        await step_in(newcomer)
        for client in (newcomer.client, seats[1].client):
            assert (await ask(client, mid_of(seats)))["past"]

    async def test_who_only_stands_by_reads_nothing_where_nobody_may_watch(self, server, mock_clock):
        seats, newcomer = await with_newcomer(server, mock_clock, spectators=0)
        assert (await ask(newcomer.client, mid_of(seats)))["code"] == "private_table"


class TestOwnMatches:
    async def test_match_is_listed_with_game_seat_and_names(self, server):
        seats = await in_hand(server)
        ((match,),) = [(await own(seats[1].client))["matches"]]
        assert match.pop("since_ms") > 1_700_000_000_000
        assert match == {
            "match": mid_of(seats),
            "seat": 1,
            "variant": "truc-french",
            "names": [seat.name for seat in seats],
        }

    async def test_guest_finds_and_reads_their_own_with_the_token_and_no_other_of_the_name_does(self, server):
        seats = await over(server, guests=(1,))
        same, other = await server.connect(), await server.connect()
        await same.login_token(seats[1].token)
        await other.login_guest(seats[1].name)
        assert [len((await own(client))["matches"]) for client in (same, other)] == [1, 0]
        assert len((await ask(same, mid_of(seats)))["past"]) == seats[0].next
        assert (await ask(other, mid_of(seats)))["code"] == "private_table"

    async def test_player_finds_it_and_reads_it_after_a_restart_and_with_the_table_gone(self, path):
        async with running(path) as server:
            seats = await over(server)
            for seat in seats:
                await seat.ask({"t": "leave", "table": seat.table})
        async with running(path) as server:
            client = await server.connect()
            await client.login_key(seats[0].key)
            assert [match["match"] for match in (await own(client))["matches"]] == [mid_of(seats)]
            assert len((await ask(client, mid_of(seats), -1))["past"]) == seats[0].next

    async def test_pages_follow_each_other(self, server):
        client = await with_matches(server, 40)
        first = await own(client)
        rest = await own(client, after=first["matches"][-1]["match"])
        listed = [match["match"] for match in first["matches"] + rest["matches"]]
        assert (len(first["matches"]), first["more"], rest.get("more", False)) == (32, True, False)
        assert listed == [number(n) for n in reversed(range(40))]
        answer = await own(client, after=b"?" * 32)
        assert (answer["code"], answer["field"]) == ("no_such_match", "after")

    async def test_match_with_a_rule_document_that_cannot_be_read_is_listed_without_a_game(self, server):
        (match,) = (await own(await with_matches(server, 1)))["matches"]
        assert ("variant" in match, match["names"]) == (False, ["Núria"])


class TestWhileItIsPlayed:
    async def test_stranger_gets_what_watchers_see(self, server):
        seats = await in_hand(server)
        answer = await ask(await stranger(server), mid_of(seats), -1)
        assert records_of(answer) == seats[0].records[len(answer["setup"]) :]

    @pytest.mark.parametrize("spectators", [2, 3 + 3_600], ids=["hand", "delay"])
    async def test_stranger_gets_no_record_that_watchers_are_not_shown_yet(self, server, spectators):
        seats = await in_hand(server, options={"spectators": spectators, "transcript": "all"})
        client, mid = await stranger(server), mid_of(seats)
        kinds = {type(parse(record)).__name__ for record in records_of(await ask(client, mid))}
        assert not kinds & {"Deal", "Act"}
        assert (await ask(client, mid, seats[0].next))["code"] == "bad_position"
        assert len((await ask(seats[1].client, mid))["past"]) == seats[1].next


class TestAfterwards:
    @each_row(
        "options, refused",
        [
            ({}, "private_table"),
            ({"transcript": "seats"}, "private_table"),
            ({"transcript": "watchers"}, None),
            ({"transcript": "watchers", "spectators": 0}, "private_table"),
            ({"transcript": "all"}, None),
            ({"transcript": "all", "spectators": 0}, None),
        ],
    )
    async def test_stranger_reads_as_the_option_says(self, server, options, refused):
        seats = await over(server, options=options)
        assert (await ask(await stranger(server), mid_of(seats))).get("code") == refused

    async def test_stranger_does_not_read_early_although_the_table_is_closed_and_a_player_does(self, server):
        seats = await over(server, options={"spectators": 3 + 3_600, "transcript": "all"})
        client = await stranger(server)
        assert (await ask(client, mid_of(seats)))["past"] == []
        for seat in seats:
            await seat.ask({"t": "leave", "table": seat.table})
        assert (await ask(client, mid_of(seats)))["past"] == []
        answer = await ask(seats[1].client, mid_of(seats), -1)
        assert len(answer["setup"]) + len(answer["past"]) == len(seats[1].records)
