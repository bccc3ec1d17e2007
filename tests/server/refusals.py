"""Which codes answer which requests, as seen on the connections of servers while a test runs."""

from truc_docs.protocol.exchanges import COURSES, EVERY
from truc_protocol.errors import Code
from truc_protocol.messages import Direction, Request
from truc_protocol.wire.capabilities import BROUGHT_BY
from truc_protocol.wire.connection import ConnectionEnd, Role


def unlisted_refusals(monkeypatch):
    """Return a list that gets every refusal which the reference does not list for its request."""
    asked, unlisted = {}, []
    track, refuse = ConnectionEnd._track, ConnectionEnd.refuse

    def note_request(connection, message, tag):
        if isinstance(message, Request):
            asked[connection, message.id] = tag
        track(connection, message, tag)

    def note_refusal(connection, refused):
        tag = asked.get((connection, refused.re))
        if connection.role is Role.SERVER and tag is not None and not is_listed(tag, Code(refused.code)):
            unlisted.append((tag, refused.code, refused.msg))
        return refuse(connection, refused)

    monkeypatch.setattr(ConnectionEnd, "_track", note_request)
    monkeypatch.setattr(ConnectionEnd, "refuse", note_refusal)
    return unlisted


def is_listed(tag, code):
    """Tell whether the reference says that a request may be answered with a code."""
    if code is Code.UNKNOWN_REQUEST:
        return tag in BROUGHT_BY
    return code in EVERY or code in COURSES[Direction.TO_SERVER][tag].errors
