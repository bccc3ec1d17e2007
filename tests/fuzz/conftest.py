"""What a server in this process needs around a test.

Which codes its refusals have is not held here: mischief gives one request the id of another.
"""

from server.conftest import plain_logs

__all__ = ["plain_logs"]
