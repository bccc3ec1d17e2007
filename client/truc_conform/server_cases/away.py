"""Cases S3: who is away from a match, what follows from it, and who takes the seat of a player who is gone.

`S3.uncalled` and `S3.unwanted` are tried only if the server announces `house-bots`; the others of `away` and of claims
only if it announces `away`.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import trio

from truc_conform.expectations import InconclusiveError, Map, UnofferedError, check_refusal, expect, expect_ok
from truc_conform.raw_client import RawClient
from truc_conform.raw_seat import Seat, bodies
from truc_conform.server_cases.coming_back import resuming
from truc_conform.server_visit import ServerVisit, case, play_on, together
from truc_protocol.bodies import Rule, Sub
from truc_protocol.errors import Code
from truc_protocol.records import Phase, parse

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
) -> tuple[Seat, Seat]:
    """Return two players in a hand, the one to move first, at a server that tells who is away."""
    (await visit.player()).need("away")
    return await visit.in_hand(
        await visit.seats(decision_ms=decision_ms, bank_ms=0, gone_after=gone_after, claim=claim)
    )


def _of(client: RawClient, number: int) -> list[Map]:
    return client.came("away", seat=number)


async def _until_away(seat: Seat, number: int, *, online: bool, missed: int = 0) -> Map:
    """Let a seat follow its match until it has been told this about another seat; return what it was told."""

    def is_told(seat: Seat) -> bool:
        last = _of(seat.client, number)[-1:]
        return any((m.get("online", False), m.get("missed", 0)) == (online, missed) for m in last)

    await _follow(seat, is_told)
    return _of(seat.client, number)[-1]


async def _follow(seat: Seat, until: Callable[[Seat], object]) -> None:
    """Let a seat follow its match until something holds; signs of life do not prolong the wait for it."""
    with trio.fail_after(seat.client.patience_s + _SOON_MS / 1000):
        await seat.play(until)


async def _come_back(visit: ServerVisit, seat: Seat) -> Map:
    return expect_ok(await seat.come_back(await visit.connect()), "ok to resume")


@case("S3.away", _GONE)
async def _away(visit: ServerVisit) -> None:
    """A seat that loses its connection is away until it is back."""
    mover, other = await _with_away(visit, decision_ms=_LATER_MS)
    await trio.aclose_forcefully(mover.client.stream)
    notice = await _until_away(other, mover.seat, online=False)
    place = (notice["table"], notice["match"])
    expect(place == (other.table, other.ledger.setup.mid), "the table and the match", notice)
    expect(notice.get("claim_in_ms", 0) > 0, "claim_in_ms above 0", notice)
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
    await together(
        *(partial(_until_away, seat, mover.seat, online=True, missed=1) for seat in (mover, other))
    )
    expect(_rulings(other) == ["move"], "the ruling that the notice counts", _rulings(other))
    for seat in (mover, other):
        seat.chooses = seat.pick
        await _choose_again(seat)
    await together(*(partial(_until_away, seat, mover.seat, online=True) for seat in (mover, other)))


async def _choose_again(seat: Seat) -> None:
    if seat.options is not None and seat.options["at"] == seat.next and seat.options["must"]:
        option = seat.pick(seat.options, seat.offered)
        if option is not None:
            await seat.act(seat.act_message(seat.options, option))


def _rulings(seat: Seat) -> list[str]:
    bodies = (parse(record) for record in seat.records)
    return [body.ruling for body in bodies if isinstance(body, Rule)]


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
    least = before - used_ms - _SLACK_MS
    expect(_deadline(mover) >= least, f"at least {least:.0f} of the {before} ms left", mover.options)


async def _leave(mover: Seat, other: Seat) -> None:
    """Let both disconnect, the second when it has been told that the first is away."""
    await trio.aclose_forcefully(mover.client.stream)
    await _until_away(other, mover.seat, online=False)
    await trio.aclose_forcefully(other.client.stream)


def _deadline(seat: Seat) -> int:
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


async def _claimed(seat: Seat) -> Map:
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


async def _four(visit: ServerVisit, **options: int | str) -> list[Seat]:
    """Return four players at a table of their own, all ready."""
    seats = [await visit.seat(number) for number in range(PARTNERS)]
    offers = {offer["name"]: offer["seats"] for offer in seats[0].client.info["variants"]}
    game = next((name for name, counts in offers.items() if PARTNERS in counts), None)
    if game is None:
        raise UnofferedError("the server offers no game for four")
    made = await seats[0].open_table(options, game=game, seats=PARTNERS)
    expect_ok(made, "a table for four to be created")
    for seat in seats[1:]:
        expect_ok(await seat.join(seats[0].table), "a seat at the table")
    return await visit.match(seats)


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
    await together(*(partial(_follow, seat, _missed_before_a_hand) for seat in seats))
    gone = next(told["seat"] for told in seats[0].client.came("away") if told.get("missed"))
    partner = next(seat for seat in seats if seat.seat != gone and seat.seat % 2 == gone % 2)
    check_refusal(await _claimed(partner), Code.NOT_NOW)
    expect("forfeit" not in _rulings(partner), "no forfeit", _rulings(partner))


def _missed_before_a_hand(seat: Seat) -> bool:
    """Tell whether somebody has missed a decision and cards are dealt: before that no claim is granted."""
    return _somebody_missed(seat) and seat.ledger.phase is Phase.HAND


def _somebody_missed(seat: Seat) -> bool:
    return any(told.get("missed") for told in seat.client.came("away"))


@case("S3.claim", _FOLLOWS)
async def _claim(visit: ServerVisit) -> None:
    """Where opponents claim, the forfeit goes to the claimant, and to nobody before."""
    mover, other = await _with_away(visit, gone_after=1, claim="opponents")
    notice = await _until_away(other, mover.seat, online=True, missed=1)
    expect(notice.get("claim_in_ms") == 0, "claim_in_ms 0", notice)
    expect(_rulings(other) == ["move"], "no forfeit before the claim", _rulings(other))
    reply = await _claimed(other)
    expect_ok(reply, "ok, after the ruling", k=other.next - 1)
    await _follow(other, lambda seat: seat.ledger.phase is Phase.ENDED)
    verdict = other.verdict()
    expect(
        verdict and (verdict.reason, verdict.winner) == ("forfeit", other.seat % 2),
        "a forfeit won by the side that claims",
        verdict,
    )


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
    await together(partial(_follow, seats[1], _has_begun), partial(_follow, seats[0], _sees_vacant))
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
    for _ in range(_LOOKS):
        await trio.sleep(visit.patience_s / 4)
        for client in (waiting.client, *strangers):
            await client.ask({"t": "tables"})
            calls = client.came("players_wanted")
            expect(not calls, "no players_wanted to a key that the host has not listed", calls)


def _has_begun(seat: Seat) -> bool:
    return seat.auditor is not None


def _sees_vacant(seat: Seat) -> bool:
    return any(each.get("vacant") for state in seat.client.came("table") for each in state["seats"])


async def _vacant(visit: ServerVisit) -> tuple[Seat, Seat]:
    """Return a player in a match, and one who has been silent until the seat was offered to others."""
    player, gone = await visit.match(await visit.seats(release_ms=_SILENCE_MS, gone=1))
    gone.is_idle = True
    with trio.fail_after(visit.patience_s + _SILENCE_MS / 1000):
        await play_on((gone, player), _is_vacant)
    return player, gone


def _is_vacant(seat: Seat) -> bool:
    told = seat.client.came("table")
    return any(each.get("vacant") for each in told[-1]["seats"])


async def _step_in(visit: ServerVisit, player: Seat, gone: Seat) -> Seat:
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
    taken = [body.seat for body in bodies(player.records) if isinstance(body, Sub)]
    expect(taken == [gone.seat], "one record by which the seat was taken over", taken)
    told = await gone.client.until("seat_taken_over", table=gone.table)
    expect(told["seat"] == gone.seat, "the seat that was taken over", told)


def _is_dealt(seat: Seat) -> bool:
    return seat.ledger.phase is Phase.HAND


@case("S3.seat-gone", _VACANT)
async def _seat_gone(visit: ServerVisit) -> None:
    """Whose seat a substitute has is refused it with seat_gone."""
    player, gone = await _vacant(visit)
    late = gone.sign(gone.rekey())
    await _step_in(visit, player, gone)
    place = {"table": gone.table, "seat": gone.seat}
    for wanted in (late, resuming(gone, gone.next), {"t": "join", **place}, {"t": "ready", **place}):
        check_refusal(await gone.ask(wanted), Code.SEAT_GONE)
