"""The games of a server, by their rule documents.

A document is bytes here: the library needs no rules, and truc_protocol reads it for whoever shows one.
"""

from truc_client.errors import ConnectError
from truc_client.line.line import Line
from truc_protocol.messages import ReadRules
from truc_protocol.words import Sentence


async def rules_of(line: Line, variant: str) -> bytes:
    """Return the rule document of a game that the server plays, without any table option.

    Raises:
        RefusedError: It plays no game of that name.
        LostError: The connection was lost meanwhile.
    """
    answer = await line.request(lambda n: ReadRules(id=n, variant=variant))
    if answer.doc is None:
        raise ConnectError(Sentence("failures.no_document"))
    return answer.doc
