"""How the secrets of one match are kept: sealed, and stored before anything made from them leaves."""

from truc_protocol.crypto.keys import seal_at_rest
from truc_protocol.match_secrets import MatchSecrets
from truc_server.house import House
from truc_server.storage import SaveSecrets


def save_secrets(house: House, th: bytes, secrets: MatchSecrets) -> SaveSecrets:
    """Return what is stored of the secrets of a match under the terms `th`."""
    return SaveSecrets(th, seal_at_rest(house.identity.at_rest, secrets.to_bytes(), th))
