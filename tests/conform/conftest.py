"""A server in the process of a test logs as servers do: the traceback of a planted fault, with every value, takes seconds."""

from server.conftest import plain_logs

__all__ = ["plain_logs"]
