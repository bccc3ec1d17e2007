"""What an act, a hand and a match cost a server in function calls: bounds that may only be lowered."""

import sys

import pytest
from benchmarks.calls import MOST, measured, tree
from benchmarks.targets import rows


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs epoll and all of 127.0.0.0/8")
@pytest.mark.parametrize("kind", MOST)
def test_server_makes_no_more_calls_than_this(kind):
    found = measured(kind)
    beyond = {what: found.calls[what] for what, most in MOST[kind].items() if found.calls[what] > most}
    assert beyond == {}, "\n".join(tree(found.load))
    assert [row.figure for row in rows({"calls": {kind: found.calls}})] == [found.calls["act"]]
