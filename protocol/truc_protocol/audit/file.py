"""The audit of a transcript file: whatever its bytes are, the outcome is a verdict."""

from collections.abc import Callable

from truc_protocol.audit.auditor import AuditError, Auditor, Finding
from truc_protocol.audit.verdict import Result, Verdict
from truc_protocol.checks import CheckError
from truc_protocol.ledger import Ledger
from truc_protocol.records import Record
from truc_protocol.transcript import read_document_item, read_records

Note = Callable[[Ledger | None, Record, Finding], None]
"""Is told every record that passed, with the ledger before it."""


def verify(file: bytes, note: Note | None = None) -> Verdict:
    """Return the verdict on a file: unreadable as soon as an item cannot be read, else what its records prove."""
    auditor = Auditor(b"")
    try:
        document, rest = read_document_item(file)
        auditor = Auditor(document)
        for record in read_records(file, rest):
            before = auditor.ledger
            finding = auditor.feed(record)
            if note is not None:
                note(before, record, finding)
    except AuditError:
        return auditor.verdict()
    except CheckError as error:
        auditor.refute(error)
        return auditor.verdict()._replace(result=Result.UNREADABLE)
    return auditor.verdict()
