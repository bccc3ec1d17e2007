"""The settings in force: read at the start, and again whenever the host asks the running server to."""

from truc_server.settings.settings import Settings


class InForce:
    """Where whoever needs a setting at the moment looks it up.

    Attributes:
        now: the settings in force.
    """

    def __init__(self, settings: Settings) -> None:
        self.now = settings
