"""The audit of a transcript file: whatever its bytes are, the outcome is a verdict."""

from truc_protocol.audit.auditor import AuditError, Auditor
from truc_protocol.audit.verdict import Result, Verdict
from truc_protocol.checks import CheckError
from truc_protocol.transcript import read_document_item, read_records


def verify(file: bytes) -> Verdict:
    """Return the verdict on a file: unreadable as soon as an item is no item, else what its records prove."""
    auditor = Auditor(b"")
    try:
        document, rest = read_document_item(file)
        auditor = Auditor(document)
        for record in read_records(file, rest):
            auditor.feed(record)
    except AuditError:
        return auditor.verdict()
    except CheckError as error:
        auditor.refute(error)
        return auditor.verdict()._replace(result=Result.UNREADABLE)
    return auditor.verdict()
