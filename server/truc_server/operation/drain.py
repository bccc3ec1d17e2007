"""Whether the server is about to be stopped, and by when; what follows from it is decided where it matters."""


class ServerDrain:
    """The drain of one server.

    Attributes:
        by: when at the latest the draining server says goodbye, a moment of Trio's clock; None while it does not drain.
        to: where players reach another node meanwhile, which they are sent to; empty if there is none.
    """

    def __init__(self) -> None:
        self.by: float | None = None
        self.to = ""

    @property
    def is_on(self) -> bool:
        """Whether hands under way go on, and nothing else begins."""
        return self.by is not None
