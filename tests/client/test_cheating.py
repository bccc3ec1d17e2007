import pytest
from client.cheats import abandoned, caught
from client.playing import at_table, at_turn, play_on
from msgspec.structs import replace
from protocol.peers import Puppet, secret
from trio.testing import wait_all_tasks_blocked

from truc_client import CheckFailedError, ServerKeyError, connect
from truc_client.verifying import verify_file
from truc_conform.forging import on, on_record, resigned
from truc_conform.playing import open_actions
from truc_protocol.acts import write_args
from truc_protocol.audit import Result
from truc_protocol.bodies import Deal
from truc_protocol.boxes import Option, private_key, seal_options
from truc_protocol.crypto import keys
from truc_protocol.messages import BoxedOptions, Choice, OpenOptions, Setup, Terms
from truc_protocol.records import Record, body_hash, encode, parse
from truc_protocol.setup import open_terms


@pytest.fixture
async def server(scripted):
    return scripted()


async def test_wrong_head_stops_the_match_and_the_evidence_is_a_transcript_refuted_at_the_same_check_alone(
    server, player, autojump_clock
) -> None:
    server.bend = on_record("call", lambda message: resigned(server, message, head=b"\x01" * 32))
    stopped = await caught(server, player)
    verdict = verify_file(stopped.evidence)
    assert stopped.check == "C10"
    assert (verdict.result, verdict.refutation.check) == (Result.REFUTED, "C10")
    assert len(stopped.kept.files) == 1  # no secret stands beside it


async def test_card_swapped_under_its_commitment_is_found_at_the_close(server, player) -> None:

    def swap(record: Record) -> Record:
        body = parse(record)
        if not isinstance(body, Deal):
            return record
        forged = encode(replace(body, leaves=(body.leaves[0], (secret("leaf", 1), *body.leaves[1][1:]))))
        return Record(0, forged, server.key.sign(forged))

    server.forge = swap
    async with at_table(server, player) as table:
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table, choose=lambda turn: turn.options[-1])  # concede, before a card is played
    assert (stopped.value.check, stopped.value.culprit) == ("C25", "server")


def foreign(option: Option) -> Option:
    return option._replace(args=(option.args[0], (option.args[1] + 1) % 32, *option.args[2:]))


@pytest.mark.parametrize(
    ("change", "why"),
    [(lambda option: option._replace(line="concede"), "would be signed"), (foreign, "own card")],
    ids=["another move", "a foreign card"],
)
async def test_option_that_would_sign_another_move_or_opens_a_foreign_card_is_refused(
    server, player, autojump_clock, change, why
) -> None:
    server.bend = on(BoxedOptions, lambda message: reboxed(server, message, change))
    assert why in (await caught(server, player)).message


def reboxed(server, message: BoxedOptions, change) -> BoxedOptions:
    """Seal the play options again, changed."""
    ledger = server.ledger
    plays = [action for action in open_actions(ledger) if action.kind == "play"]
    if not plays:
        return message
    openings = server.dealer.openings(ledger, 0)
    option = Option("play", write_args(plays[0], openings), "play")
    key = private_key(server.dealer.shared(ledger, 0), ledger.setup.mid, 0)
    box = seal_options(
        key,
        ledger.setup.mid,
        seat=0,
        at=message.at,
        offer=message.offer,
        ctr=1 << 40,
        options=(change(option),),
    )
    return replace(message, box=box)


async def test_options_outside_a_box_are_refused(server, player, autojump_clock) -> None:

    def clear(message: BoxedOptions) -> OpenOptions:
        return OpenOptions(
            table=message.table,
            match=message.match,
            at=message.at,
            offer=message.offer,
            must=True,
            choices=(Choice(key="stand", kind="stand", hints={}),),
        )

    server.bend = on(BoxedOptions, clear)
    assert "in clear" in (await caught(server, player)).message


async def test_box_with_a_counter_used_before_is_refused(server, player, autojump_clock) -> None:
    first: list[BoxedOptions] = []

    def stale(message: BoxedOptions) -> BoxedOptions:
        first.append(message)
        return replace(message, box=first[0].box[:8] + message.box[8:])

    server.bend = on(BoxedOptions, stale)
    assert (await caught(server, player)).check == "C9"


def changed_terms(server, message: Terms) -> Terms:
    terms = server.dealer.terms(
        server.variant, seats=2, opts=server.opts._replace(voids=9), name="x", opened=1
    )
    return replace(message, record=terms.record)


def with_a_puppet(server, message: Setup) -> Setup:
    """Close the setup with a player of the server's own in seat 0."""
    table, _, other, _ = (Record(*record) for record in message.records)
    terms = open_terms(server.document, table)
    seats = (Puppet(0, 99).join(terms), other)
    start = server.dealer.match_record(terms, seats)
    return replace(message, match=body_hash(start), records=(table, *seats, start))


@pytest.mark.parametrize(("kind", "bend"), [(Terms, changed_terms), (Setup, with_a_puppet)])
async def test_terms_other_than_shown_and_a_setup_with_another_in_the_own_seat_are_refused(
    server, player, kind, bend
) -> None:
    server.bend = on(kind, lambda message: bend(server, message))
    assert (await caught(server, player)).check == "C9"


async def test_table_record_that_served_before_is_not_signed_again(scripted, player) -> None:
    server = scripted(target=3)
    first: list[Terms] = []

    def again(message: Terms) -> Terms:
        first.append(message)
        return first[0]

    server.bend = on(Terms, again)
    async with at_table(server, player) as table:
        await play_on(table)
        await table.ready()
        with pytest.raises(CheckFailedError) as stopped:
            await play_on(table)
    assert stopped.value.check == "C9"


async def test_another_server_key_is_a_hard_stop_with_both_fingerprints(server, player) -> None:
    async with connect("host", player, dial=server.dial):
        pass
    known = keys.fingerprint(server.key.public)
    server.key = keys.signing_key_from_seed(secret("another", 1))
    with pytest.raises(ServerKeyError) as stopped:
        async with connect("host", player, dial=server.dial):
            pass
    assert known in str(stopped.value)
    assert keys.fingerprint(server.key.public) in str(stopped.value)


async def test_nothing_about_the_player_is_said_to_another_server(server, player) -> None:
    wrong = f"host#{'A' * 26}"
    with pytest.raises(ServerKeyError):
        async with connect(wrong, player, dial=server.dial):
            pass
    assert [type(message).__name__ for message in server.received] == ["ClientHello"]


async def test_stopped_match_takes_no_choice(server, player) -> None:
    async with at_turn(server, player) as (table, turn):
        await wait_all_tasks_blocked()
        await server.send(abandoned(server))
        with pytest.raises(CheckFailedError):
            await play_on(table)
        with pytest.raises(CheckFailedError):
            await table.choose(turn.options[0])
