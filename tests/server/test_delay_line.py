"""What waits to be shown comes out in order, in time, and takes little room."""

from rows import each_row

from truc_server.spectating.delay_line import GRAIN, NOTICES, DelayLine, Notice


def drained(line: DelayLine, now: float) -> list[tuple[int, int]]:
    """Return position and number of notices of every mark that is due."""
    marks = []
    while (mark := line.due(now)) is not None:
        marks.append((mark.k, len(mark.notices)))
        line.pop()
    return marks


def test_nothing_is_due_before_its_moment():
    line = DelayLine(10)
    line.put_record(100.0, 1)
    assert (drained(line, 99.99), drained(line, 100.01)) == ([], [(1, 0)])


@each_row("moment", [0.001, 17.3, 99.999])
def test_record_is_due_a_thousandth_of_the_delay_later_at_most(moment):
    line = DelayLine(3600)
    line.put_record(moment, 1)
    assert moment <= line.next <= moment + 3600 / GRAIN


def test_moment_of_an_earlier_clock_does_not_overtake():
    line = DelayLine(10)
    line.put_record(5, 1)
    line.put_record(3, 2)
    assert (drained(line, 4.9), drained(line, 5)) == ([], [(2, 0)])


def test_notice_comes_after_the_record_before_it():
    line = DelayLine(10)
    line.put_record(1, 1)
    line.put_notice(2, 1, Notice(b"said", None))
    line.put_record(3, 2)
    assert drained(line, 3) == [(1, 0), (1, 1), (2, 0)]


def test_line_of_many_records_holds_few_marks():
    line = DelayLine(3600)
    for k in range(20 * GRAIN):
        line.put_record(3600 * k / (20 * GRAIN), k + 1)
    assert len(drained(line, 3600)) <= GRAIN + 1


def test_more_notices_than_one_mark_takes_are_left_out():
    line = DelayLine(3600)
    for _ in range(2 * NOTICES):
        line.put_notice(1, 0, Notice(b"said", None))
    assert drained(line, 4) == [(0, NOTICES)]


def said(line: DelayLine, moment: float, text: bytes) -> None:
    line.put_notice(moment, line.end, Notice(text, None))


def test_line_that_nobody_hears_keeps_what_was_said_last():
    line = DelayLine(10)
    for k in range(3):
        line.put_record(k, k + 1)
        said(line, k + 0.5, b"%d" % k)
    line.hush()
    assert [(mark.k, mark.notices) for mark in taken(line)] == [
        (1, ()),
        (1, ()),
        (2, ()),
        (2, ()),
        (3, ()),
        (3, (Notice(b"2", None),)),
    ]


def test_what_is_said_takes_the_place_of_what_was_said_before_it_where_nobody_hears_it():
    line = DelayLine(10)
    line.put_record(1, 1)
    said(line, 2, b"first")
    line.hush_newest()
    said(line, 2, b"second")
    assert [mark.notices for mark in taken(line)] == [(), (Notice(b"second", None),)]


def taken(line: DelayLine) -> list:
    marks = []
    while (mark := line.due(float("inf"))) is not None:
        marks.append(mark)
        line.pop()
    return marks
