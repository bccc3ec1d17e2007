from client.playing import at_table, my_turn, play_on

from truc_client import CardsDealt, MatchEnded, MatchStarted, RecordSeen
from truc_protocol.audit import Auditor, Result
from truc_protocol.transcript import read_transcript


async def test_keyed_seat_plays_a_match_to_a_proven_end(scripted, player) -> None:
    server = scripted(target=4)
    async with at_table(server, player) as table:
        seen = await play_on(table)
    ended = seen[-1]
    assert isinstance(ended, MatchEnded)
    assert ended.verdict.result is Result.PROVEN


async def test_transcript_on_the_disk_is_the_whole_match(scripted, player) -> None:
    server = scripted(target=4)
    async with at_table(server, player) as table:
        seen = await play_on(table)
    document, records = read_transcript(seen[-1].transcript.read_bytes())
    auditor = Auditor(document)
    for record in records:
        auditor.feed(record)
    assert auditor.verdict().result is Result.PROVEN


async def test_guest_plays_a_match(scripted, guest) -> None:
    server = scripted(target=4)
    async with at_table(server, guest) as table:
        seen = await play_on(table)
    started = next(happening for happening in seen if isinstance(happening, MatchStarted))
    assert (started.level, seen[-1].verdict.result) == ("B", Result.PROVEN)


async def test_seat_is_told_what_it_may_see_of_the_match_after_each_record(scripted, player) -> None:
    server = scripted(target=4)
    async with at_table(server, player) as table:
        seen = await play_on(table, until=my_turn)
        view, pack = table.match.view, table.match.ledger.setup.terms.variant.pack
    record = [happening for happening in seen if isinstance(happening, RecordSeen)][-1]
    dealt = next(happening for happening in seen if isinstance(happening, CardsDealt))
    assert record.view == view
    assert tuple(pack[card] for card in view.cards) == dealt.cards
