"""Terms that wait for signatures, in the store."""

import pytest
from server.stored import TABLE, TH

from truc_protocol.records import Record
from truc_server.storage import DropSecrets, DropTable, DropTerms, SaveSecrets, SaveTerms, StoredTerms

TERMS = SaveTerms("ABC", TH, 0, b"table record", b"signature")
JOINED = SaveTerms("ABC", TH, 2, b"seat record", b"another")
SECRETS = SaveSecrets(TH, b"sealed")


def test_terms_are_found_again_with_their_secrets_and_who_has_joined(store):
    store.commit([TABLE, SECRETS, JOINED, TERMS])
    records = (Record(0, b"table record", b"signature"), Record(2, b"seat record", b"another"))
    assert store.terms("ABC") == StoredTerms(TH, records, b"sealed")


def test_terms_whose_secrets_are_lost_are_found_without(store):
    store.commit([TABLE, SECRETS, TERMS])
    store.commit([DropSecrets(TH)])
    assert store.terms("ABC").sealed is None


@pytest.mark.parametrize("drop", [DropTerms("ABC"), DropTable("ABC")])
def test_terms_are_forgotten(store, drop):
    store.commit([TABLE, SECRETS, TERMS, JOINED])
    store.commit([drop])
    assert store.terms("ABC") is None


def test_terms_of_another_table_stay(store):
    store.commit([TABLE, TERMS, TERMS._replace(table="XYZ")])
    store.commit([DropTerms("ABC")])
    assert store.terms("XYZ") is not None


def test_secrets_of_terms_are_stray_only_when_the_terms_were_dropped(store):
    store.commit([TABLE, SECRETS, TERMS])
    assert store.stray_secrets() == ()
    store.commit([DropTerms("ABC")])
    assert store.stray_secrets() == (TH,)
