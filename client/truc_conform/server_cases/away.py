"""Cases S3: coming back, who is away from a match and what follows from it, and who takes the seat of a player who is gone.

`S3.uncalled` and `S3.unwanted` are tried only if the server announces `house-bots`; the others of `away` and of claims
only if it announces `away`.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import trio

from truc_conform.expectations import InconclusiveError, Map, UnofferedError, check_refusal, expect, expect_ok
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import RawSeat
from truc_conform.server_visit import (
    ServerVisit,
    all_at_once,
    case,
    case_rows,
    catch_up,
    held_seats,
    play_on,
    sit_down,
)
from truc_protocol.bodies import Sub
from truc_protocol.errors import Code
from truc_protocol.ledger import Outcome
from truc_protocol.records import Phase

LEAST_ASIDE: Final = 6  # records between two breaks of a connection
_BREAKS: Final = 40  # more than a short match has records, so the whole of it is played over breaks
_SHORT: Final = 2
_FAR: Final = 2**40  # beyond every position, and still an integer of the profile
_BACK: Final = "session.md#coming-back"


def resuming(seat: RawSeat, next_: int) -> Map:
    """Return the request to resume a player's match from a position."""
    return {"t": "resume", "table": seat.table, "match": seat.ledger.setup.mid, "next": next_}


Sent = tuple[int, int, bytes, bytes]
"""A record as it came: position, signer, body, signature."""


def records_of(client: RawClient) -> list[Sent]:
    """Return the records that came on a connection, in order."""
    records = client.came("record")
    return [(each["k"], each["signer"], each["body"], each["sig"]) for each in records]


@case("S3.resume", _BACK)
async def _resume(visit: ServerVisit) -> None:
    """Resuming from any position brings the match's records unchanged."""
    mover, other = await visit.in_hand()
    await catch_up(mover, other)
    live = records_of(mover.client)
    client = await visit.player(mover.key)
    # From every position: a client asks for the first record that it lacks, whichever that is.
    for next_ in range(mover.next + 1):
        client.log.clear()
        reply = await client.ask_patiently(resuming(mover, next_))
        expect_ok(reply, f"ok with k {mover.next}", k=mover.next)
        expect(
            records_of(client) == live[next_:], f"the records from {next_} on, as they came live", client.log
        )


@case("S3.resume-setup", _BACK)
async def _resume_setup(visit: ServerVisit) -> None:
    """Resuming from -1 brings the setup, then every record."""
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    expect_ok(await client.ask(resuming(mover, -1)), "ok to resume")
    tags = [message["t"] for message in client.log if message["t"] in ("setup", "record")]
    expect(tags == ["setup"] + ["record"] * mover.next, "the setup, then every record", tags)
    (setup,) = client.came("setup")
    known = [list(record) for record in mover.ledger.setup.records]
    expect(setup["doc"] == mover.document and setup["records"] == known, "the setup as it came live", setup)


@case("S3.resume-options", _BACK)
async def _resume_options(visit: ServerVisit) -> None:
    """After ok come the current options, with the time that is left."""
    mover, _ = await visit.in_hand()
    known = mover.options or {}
    client = await visit.player(mover.key)
    await client.ask(resuming(mover, mover.next))
    options = await client.until("options")
    came = {name: options.get(name) for name in ("at", "offer", "must")}
    expect(came == {name: known[name] for name in came}, "the current options, after ok", options)
    was, now = known.get("deadline_ms"), options.get("deadline_ms")
    # session.md, "Clocks and deadlines": milliseconds that
    # remain when the message is sent, after `resume` too.
    expect((was is None) == (now is None) and (now or 0) <= (was or 0), "no more time than is left", options)


@case("S3.resume-cards", _BACK)
async def _resume_cards(visit: ServerVisit) -> None:
    """A guest without x is sent its cards again."""
    mover, _ = await visit.in_hand(await visit.seats(guests=(0, 1), boxed=False))
    client = await visit.connect()
    await client.login_token(mover.token)
    await client.ask(resuming(mover, mover.next))
    cards = await client.until("cards")
    expect(cards["cards"] == mover.cards, "the guest's cards again", cards)


@case_rows(
    "errors.md#{code}",
    "A resume {what} gets {code}",
    ("S3.resume-beyond", "from beyond the last record", {"next": _FAR}, Code.BAD_POSITION),
    ("S3.resume-other", "of another match", {"match": bytes(32)}, Code.NO_SUCH_MATCH),
)
async def _refused_resume(visit: ServerVisit, *, changed: Map, code: Code) -> None:
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    await client.refused(resuming(mover, 0) | changed, code)
    await client.check_alive()


@case("S3.resume-stranger", "errors.md#not_seated")
async def _resume_stranger(visit: ServerVisit) -> None:
    """Nobody can resume the seat of another."""
    mover, _ = await visit.in_hand()
    await visit.stranger_refused(resuming(mover, 0), Code.NOT_SEATED)


@case("S3.take-over", _BACK)
async def _take_over(visit: ServerVisit) -> None:
    """The newest connection has the seat; the older one is told, and stays open."""
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    await client.ask(resuming(mover, mover.next))
    told = await mover.client.until("seat_taken_over")
    expect((told["table"], told["seat"]) == (mover.table, mover.seat), "which seat was taken over", told)
    await mover.client.check_alive()


@case("S3.seats-listed", "session.md#login")
async def _seats_listed(visit: ServerVisit) -> None:
    """welcome lists the match to resume."""
    mover, _ = await visit.in_hand()
    client = await visit.player(mover.key)
    expected = [(mover.table, mover.ledger.setup.mid, mover.seat)]
    expect(held_seats(client.welcome) == expected, f"seats to be {expected}", client.welcome)


@case("S3.storm", _BACK)
async def _storm(visit: ServerVisit) -> None:
    """Over many lost connections a player gets every record, once and in order."""
    seats = await visit.match(await visit.seats(target=_SHORT))
    await all_at_once(partial(_restless, visit, seats[0]), partial(seats[1].play))
    for seat in seats:
        seat.proven()


def _is_further(seat: RawSeat, *, than: int) -> bool:
    """Tell whether enough records have come since a position, or the match is over."""
    return seat.done or seat.next >= than + LEAST_ASIDE


async def _restless(visit: ServerVisit, seat: RawSeat) -> None:
    """Play, moving to a new connection after every few records; a gap in them ends the case."""
    for _ in range(_BREAKS):
        await seat.play(partial(_is_further, than=seat.next))
        if seat.done:
            return
        await trio.aclose_forcefully(seat.client.stream)
        expect_ok(await seat.come_back(await visit.connect()), "ok to resume")
        # The act may have been lost on the way in, or its reply on the way out.
        await seat.send_again()
    await seat.play()


@case("S3.offline", "messages.md#seatstate")
async def _offline(visit: ServerVisit) -> None:
    """A seat whose connection is gone shows as offline, and is kept."""
    first, second = await visit.seats()
    await trio.aclose_forcefully(second.client.stream)
    await first.client.until("table", lambda state: not state["seats"][second.seat].get("online", False))
    client = await visit.connect()
    if second.key is not None:
        await client.login_key(second.key)
    reply = await client.ask({"t": "join", "table": second.table})
    expect_ok(reply, "one's own seat", seat=second.seat)


PARTNERS: Final = 4
_SOON_MS: Final = 1_000  # soon missed, and long enough to act in on a busy machine
_LATER_MS: Final = 60_000  # longer than any case lasts: nothing may be decided by time
_OUT_S: Final = 1.5  # longer than the slack, so that time that runs on is seen
_SLACK_MS: Final = 700  # between the kit's clock and the server's, on a busy machine
_LOOKS: Final = 20
"""How often it is checked whether somebody was called to a free seat, each after a quarter of the time an answer may take."""
_GONE: Final = "play.md#a-seat-whose-player-is-gone"
_TIME: Final = "play.md#who-is-there-and-time"
_FOLLOWS: Final = "play.md#what-follows"
_CLAIM: Final = "messages.md#claim_match"
_SILENCE_MS: Final = 2_000
"""How long a link is awaited, and then a substitute."""
_NEWCOMER: Final = 2
_VACANT: Final = "play.md#a-vacant-seat"


async def _with_away(
    visit: ServerVisit, *, decision_ms: int = _SOON_MS, gone_after: int = 3, claim: str = "server"
) -> tuple[RawSeat, RawSeat]:
    """Return two players in a hand, the one to move first, at a server that tells who is away."""
    (await visit.player()).need("away")
    return await visit.in_hand(
        await visit.seats(decision_ms=decision_ms, bank_ms=0, gone_after=gone_after, claim=claim)
    )


def _of(client: RawClient, number: int) -> list[Map]:
    return client.came("away", seat=number)


async def _until_away(seat: RawSeat, number: int, *, online: bool, missed: int = 0) -> Map:
    """Let a seat follow its match until it has been told this about another seat; return what it was told."""

    def is_told(seat: RawSeat) -> bool:
        last = _of(seat.client, number)[-1:]
        return any((m.get("online", False), m.get("missed", 0)) == (online, missed) for m in last)

    await _follow(seat, is_told)
    return _of(seat.client, number)[-1]


async def _follow(seat: RawSeat, until: Callable[[RawSeat], object]) -> None:
    """Let a seat follow its match until something holds; signs of life do not prolong the wait for it."""
    with trio.fail_after(seat.client.patience_s + _SOON_MS / 1000):
        await seat.play(until)


async def _come_back(visit: ServerVisit, seat: RawSeat) -> Map:
    return expect_ok(await seat.come_back(await visit.connect()), "ok to resume")


@case("S3.away", _GONE)
async def _away(visit: ServerVisit) -> None:
    """A seat that loses its connection is away until it is back."""
    mover, other = await _with_away(visit, decision_ms=_LATER_MS)
    await trio.aclose_forcefully(mover.client.stream)
    notice = await _until_away(other, mover.seat, online=False)
    place = (notice["table"], notice["match"])
    expect(place == (other.table, other.ledger.setup.mid), "the table and the match", notice)
    # play.md, "A seat whose player is gone": what is left of the decision it holds, and two more.
    least, most = 2 * _LATER_MS, 3 * _LATER_MS
    expect(least < notice.get("claim_in_ms", 0) <= most, f"claim_in_ms above {least}, to {most}", notice)
    await _come_back(visit, mover)
    await _until_away(other, mover.seat, online=True)


@case("S3.away-comer", _GONE)
async def _away_comer(visit: ServerVisit) -> None:
    """A player who resumes is told of each seat that is away."""
    mover, other = await _with_away(visit, decision_ms=_LATER_MS)
    await trio.aclose_forcefully(mover.client.stream)
    await _until_away(other, mover.seat, online=False)
    await _come_back(visit, other)
    await _until_away(other, mover.seat, online=False)


@case("S3.away-missed", _GONE)
async def _away_missed(visit: ServerVisit) -> None:
    """Both sides are told of a ruling in a seat's place, and when it decides again."""
    mover, other = await _with_away(visit)
    await all_at_once(
        *(partial(_until_away, seat, mover.seat, online=True, missed=1) for seat in (mover, other))
    )
    expect(_rulings(other) == ["move"], "the ruling that the notice counts", _rulings(other))
    for seat in (mover, other):
        seat.chooses = seat.pick
        await _choose_again(seat)
    await all_at_once(*(partial(_until_away, seat, mover.seat, online=True) for seat in (mover, other)))


async def _choose_again(seat: RawSeat) -> None:
    if seat.options is not None and seat.options["at"] == seat.next and seat.options["must"]:
        option = seat.pick(seat.options, seat.offered)
        if option is not None:
            await seat.act(seat.act_message(seat.options, option))


def _rulings(seat: RawSeat) -> list[str]:
    return [ruling for ruling, _, _ in seat.rulings()]


@case("S3.time-stands", _TIME)
async def _time_stands(visit: ServerVisit) -> None:
    """While no seat is connected, no seat's time runs."""
    mover, other = await _with_away(visit, decision_ms=_LATER_MS)
    before, since = _deadline(mover), trio.current_time()
    await _leave(mover, other)
    used_ms = (trio.current_time() - since) * 1000
    await trio.sleep(_OUT_S)
    await _come_back(visit, mover)
    mover.options = None
    await _follow(mover, lambda seat: seat.options is not None)
    # play.md, "Who is there, and time": what passed until the
    # last one left was used; what passed after that was not.
    least = before - used_ms - _SLACK_MS
    expect(_deadline(mover) >= least, f"at least {least:.0f} of the {before} ms left", mover.options)


async def _leave(mover: RawSeat, other: RawSeat) -> None:
    """Let both disconnect, the second when it has been told that the first is away."""
    await trio.aclose_forcefully(mover.client.stream)
    await _until_away(other, mover.seat, online=False)
    await trio.aclose_forcefully(other.client.stream)


def _deadline(seat: RawSeat) -> int:
    return int((seat.options or {}).get("deadline_ms", 0))


@case("S3.claim-shown", "options.md#who-ends-a-match-against-a-side-that-is-gone")
async def _claim_shown(visit: ServerVisit) -> None:
    """The table's state shows claim before anybody is ready."""
    (await visit.player()).need("away")
    first, second = await visit.seats(claim="opponents")
    for seat in (first, second):
        state = seat.client.came("table")[-1:]
        state = state or [await seat.client.until("table", table=seat.table)]
        expect(state[-1].get("claim") == "opponents", "claim opponents in the table's state", state[-1])


@case("S3.claim-word", "options.md#who-ends-a-match-against-a-side-that-is-gone")
async def _claim_word(visit: ServerVisit) -> None:
    """claim must be one of two words."""
    seat = await visit.seat()
    seat.client.need("away")
    check_refusal(await seat.open_table({"claim": "anybody"}), Code.BAD_OPTION, field="options/claim")


async def _claimed(seat: RawSeat) -> Map:
    """Claim the match and return the reply."""
    return await seat.ask({"t": "claim_match", "table": seat.table, "match": seat.ledger.setup.mid})


@case("S3.claim-early", _CLAIM)
async def _claim_early(visit: ServerVisit) -> None:
    """A claim before its time gets not_now, with a time to wait."""
    mover, other = await _with_away(visit, decision_ms=_LATER_MS, claim="opponents")
    await trio.aclose_forcefully(mover.client.stream)
    notice = await _until_away(other, mover.seat, online=False)
    error = check_refusal(await _claimed(other), Code.NOT_NOW)
    wait_ms = error.get("retry_after_ms", 0)
    expect(0 < wait_ms <= notice["claim_in_ms"], "at most the time in the notice", error)


@case("S3.claim-present", _FOLLOWS)
async def _claim_present(visit: ServerVisit) -> None:
    """A seat that is connected and not gone cannot be claimed against."""
    _, other = await _with_away(visit, decision_ms=_LATER_MS, claim="opponents")
    check_refusal(await _claimed(other), Code.NOT_NOW)


@case("S3.claim-stranger", _CLAIM)
async def _claim_stranger(visit: ServerVisit) -> None:
    """Nobody can claim a match in which they have no seat."""
    mover, other = await _with_away(visit)
    wrong = {"t": "claim_match", "table": other.table}
    await visit.stranger_refused(wrong | {"match": other.ledger.setup.mid}, Code.NOT_SEATED)
    check_refusal(await other.ask(wrong | {"match": bytes(32)}), Code.NO_SUCH_MATCH)
    expect(mover.ledger.phase is Phase.HAND, "the match to go on", mover.ledger.phase)


async def _four(visit: ServerVisit, **options: int | str) -> list[RawSeat]:
    """Return four players at a table of their own, all ready."""
    seats = [await visit.seat(number) for number in range(PARTNERS)]
    games = seats[0].client.games(PARTNERS)
    if not games:
        raise UnofferedError("the server offers no game for four")
    return await visit.match(await sit_down(seats, options, game=games[0]))


def _nothing(message: Map, options: list[Map]) -> None:
    """Choose nothing."""
    del message, options


@case("S3.claim-partner", _FOLLOWS)
async def _claim_partner(visit: ServerVisit) -> None:
    """The partner of a player who is gone cannot claim."""
    (await visit.player()).need("away")
    seats = await _four(visit, decision_ms=_SOON_MS, bank_ms=0, gone_after=1, claim="opponents")
    for seat in seats:
        seat.chooses = _nothing
    await all_at_once(*(partial(_follow, seat, _missed_before_a_hand) for seat in seats))
    gone = next(told["seat"] for told in seats[0].client.came("away") if told.get("missed"))
    # Sides sit alternately: seat mod 2.
    partner = next(seat for seat in seats if seat.seat != gone and seat.seat % 2 == gone % 2)
    check_refusal(await _claimed(partner), Code.NOT_NOW)
    expect("forfeit" not in _rulings(partner), "no forfeit", _rulings(partner))


def _missed_before_a_hand(seat: RawSeat) -> bool:
    """Tell whether somebody has missed a decision and cards are dealt: before that no claim is granted."""
    return _somebody_missed(seat) and seat.ledger.phase is Phase.HAND


def _somebody_missed(seat: RawSeat) -> bool:
    return any(told.get("missed") for told in seat.client.came("away"))


@case("S3.claim", _FOLLOWS)
async def _claim(visit: ServerVisit) -> None:
    """Where opponents claim, the forfeit goes to the claimant, and to nobody before."""
    mover, other = await _with_away(visit, gone_after=1, claim="opponents")
    notice = await _until_away(other, mover.seat, online=True, missed=1)
    expect(notice.get("claim_in_ms") == 0, "claim_in_ms 0", notice)
    # play.md, "What follows": with `claim` `opponents` rulings play on until somebody claims.
    expect(_rulings(other) == ["move"], "no forfeit before the claim", _rulings(other))
    reply = await _claimed(other)
    expect_ok(reply, "ok, after the ruling", k=other.next - 1)
    await _follow(other, lambda seat: seat.ledger.phase is Phase.ENDED)
    outcome, won = other.ledger.outcome, Outcome(other.seat % 2, "forfeit")
    expect(outcome == won, "a forfeit won by the side that claims", outcome)


@case("S3.claim-server", _FOLLOWS)
async def _claim_server(visit: ServerVisit) -> None:
    """By default the forfeit comes without a claim."""
    _, other = await _with_away(visit, gone_after=1)
    await _follow(other, lambda seat: seat.ledger.phase is Phase.ENDED)
    expect("forfeit" in _rulings(other), "a forfeit without a claim", _rulings(other))


@case("S3.uncalled", "play.md#a-vacant-seat")
async def _uncalled(visit: ServerVisit) -> None:
    """A key that the host has not listed is not called to a vacant seat."""
    asked = await visit.player(want=["house-bots"])
    if "house-bots" not in asked.info["caps"]:
        raise InconclusiveError("the server calls no bots")
    silent = await visit.player()
    seats = await visit.match(await visit.seats(release_ms=_SOON_MS, gone=1))
    seats[1].is_idle = True
    await all_at_once(partial(_follow, seats[1], _has_begun), partial(_follow, seats[0], _sees_vacant))
    for stranger in (asked, silent, *(seat.client for seat in seats)):
        await stranger.ask({"t": "tables"})
        calls = stranger.came("bot_wanted")
        expect(not calls, "no bot_wanted to a key that the host has not listed", calls)


@case("S3.unwanted", "messages.md#players_wanted")
async def _unwanted(visit: ServerVisit) -> None:
    """A key that the host has not listed is not called to a free seat."""
    strangers = [await visit.player(want=["house-bots"]), await visit.player()]
    if "house-bots" not in strangers[0].info["caps"]:
        raise InconclusiveError("the server calls no bots")
    waiting = await visit.seat()
    expect_ok(await waiting.open_table({}, private=False), "a public table")
    await waiting.ready()
    # That nothing comes can only be waited for; `tables` brings in what was on its way.
    for _ in range(_LOOKS):
        await trio.sleep(visit.patience_s / 4)
        for client in (waiting.client, *strangers):
            await client.ask({"t": "tables"})
            calls = client.came("players_wanted")
            expect(not calls, "no players_wanted to a key that the host has not listed", calls)


def _has_begun(seat: RawSeat) -> bool:
    return seat.auditor is not None


def _sees_vacant(seat: RawSeat) -> bool:
    return any(each.get("vacant") for state in seat.client.came("table") for each in state["seats"])


async def _vacant(visit: ServerVisit) -> tuple[RawSeat, RawSeat]:
    """Return a player in a match, and one who has been silent until the seat was offered to others."""
    player, gone = await visit.match(await visit.seats(release_ms=_SILENCE_MS, gone=1))
    gone.is_idle = True
    with trio.fail_after(visit.patience_s + _SILENCE_MS / 1000):
        await play_on((gone, player), _is_vacant)
    return player, gone


def _is_vacant(seat: RawSeat) -> bool:
    told = seat.client.came("table")
    return any(each.get("vacant") for each in told[-1]["seats"])


async def _step_in(visit: ServerVisit, player: RawSeat, gone: RawSeat) -> RawSeat:
    """Return a newcomer who has the seat of the player who was gone."""
    newcomer = await visit.seat(_NEWCOMER)
    expect_ok(await newcomer.join(player.table, gone.seat), "a place beside the vacant seat")
    expect_ok(await newcomer.ask(resuming(player, -1)), "every record of the match")
    expect_ok(await newcomer.ask(newcomer.sign(newcomer.sub())), "the seat")
    return newcomer


@case("S3.substitute", _VACANT)
async def _substitute(visit: ServerVisit) -> None:
    """A newcomer takes a vacant seat over, and is dealt cards."""
    player, gone = await _vacant(visit)
    newcomer = await _step_in(visit, player, gone)
    await play_on((player, newcomer), _is_dealt)
    taken = [body.seat for body in player.bodies(Sub)]
    expect(taken == [gone.seat], "one record by which the seat was taken over", taken)
    told = await gone.client.until("seat_taken_over", table=gone.table)
    expect(told["seat"] == gone.seat, "the seat that was taken over", told)


def _is_dealt(seat: RawSeat) -> bool:
    return seat.ledger.phase is Phase.HAND


@case("S3.seat-gone", _VACANT)
async def _seat_gone(visit: ServerVisit) -> None:
    """Whose seat a substitute has is refused it with seat_gone."""
    player, gone = await _vacant(visit)
    # Signed before the seat is lost: afterwards it could not be told from one that comes too late.
    late = gone.sign(gone.rekey())
    await _step_in(visit, player, gone)
    place = {"table": gone.table, "seat": gone.seat}
    for wanted in (late, resuming(gone, gone.next), {"t": "join", **place}, {"t": "ready", **place}):
        check_refusal(await gone.ask(wanted), Code.SEAT_GONE)
