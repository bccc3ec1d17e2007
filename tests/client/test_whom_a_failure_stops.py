"""A record that fails stops a match for good where somebody is to blame, and is asked for again where nobody is."""

import pytest
from protocol.test_keyed_page import tampered

from truc_client import CheckFailedError
from truc_client.errors import UnboundError
from truc_client.home import transcripts
from truc_client.home.store import HomeStore
from truc_client.matches.live_audit import LiveAudit
from truc_protocol.transcript import unpack_record


@pytest.mark.slow
def test_client_stops_or_asks_again_by_the_table_of_the_page(tmp_path):
    """One list for each check, kind of record, and whether anybody is to blame.

    A second body of the server's stops a match too, although the check that it fails in its place blames nobody.
    """
    store = HomeStore(tmp_path / "store.sqlite3")
    rows = {(each.check, each.kind, each.culprit is None): each for each in tampered()}
    for number, each in enumerate(rows.values()):
        *honest, failing = map(unpack_record, each.items)
        folder = tmp_path / str(number)
        folder.mkdir()
        file = transcripts.create(folder / "match.truc", each.document)
        audit = LiveAudit(file, folder, store)
        for record in honest:
            audit.take(record)
        with pytest.raises(CheckFailedError if each.culprit else (UnboundError, CheckFailedError)) as failed:
            audit.take(failing)
        file.close()
        is_second = isinstance(failed.value, CheckFailedError) and each.culprit is None
        assert failed.value.check == ("C33" if is_second else each.check)
