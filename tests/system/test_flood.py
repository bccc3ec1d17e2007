"""A short flood beside a few honest tables; `python -m chaos.flood` is the long one. And what its garbage is made of."""

import random
import sys
from collections import Counter

import pytest
from chaos.flood import MORE_FILES, MORE_MB, Course, Flooded, excesses, flood
from chaos.garbage import KINDS, framed, mutated
from chaos.measures import Sample
from rows import each_row

from truc_protocol.codec import EncodingError, pack, unpack
from truc_protocol.errors import RemoteError
from truc_protocol.wire.encoding import CLIENT_LIMIT, FrameSplitter

SESSION = [framed(pack({"t": tag, "id": i})) for i, tag in enumerate(["hello", "login", "create", "ready"])]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and all of 127.0.0.0/8")
async def test_flood_harms_no_honest_table_and_leaves_nothing_behind(tmp_path):
    flooded = await flood(Course(seconds=5, tables=10, pause_s=0.5), tmp_path)
    assert flooded.violations == ()


QUIET = Sample(done=0, rss_mb=80.0, files=50, database_bytes=0)


def told(*, during=QUIET, after=QUIET, log_bytes=0):
    """Return what is told of a flood in which the server took up so much."""
    course = Course(seconds=1, tables=1)
    return excesses(Flooded(course, 1, Counter(), QUIET, (during,), after, log_bytes, ()))


@each_row(
    "figures, excess",
    [
        ({}, []),
        ({"during": QUIET._replace(rss_mb=81 + MORE_MB)}, ["memory"]),
        ({"during": QUIET._replace(files=51 + MORE_FILES)}, ["open"]),
        ({"after": QUIET._replace(files=51)}, ["51"]),
        ({"log_bytes": 1_000_000}, ["the"]),
    ],
)
def test_server_that_takes_up_more_than_it_may_is_told_and_one_that_stays_as_it_was_is_not(figures, excess):
    assert [said.split()[0] for said in told(**figures)] == excess


def is_message(raw):
    """Tell whether bytes are a whole message and nothing else."""
    splitter = FrameSplitter(CLIENT_LIMIT)
    splitter.feed(raw)
    try:
        whole = splitter.next_frame()
        return whole is not None and "t" in unpack(whole)
    except (RemoteError, EncodingError):
        return False


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_garbage_is_no_message(kind):
    assert not any(is_message(kind(random.Random(seed))) for seed in range(50))


def test_mutated_session_is_hardly_ever_the_sound_one():
    mutants = [b"".join(mutated(SESSION, random.Random(seed))) for seed in range(200)]
    assert mutants.count(b"".join(SESSION)) < 10
