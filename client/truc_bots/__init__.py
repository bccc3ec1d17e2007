"""Bots that know the rules: they imagine the cards that they cannot see, and play each option out.

Functions from values to values, on truc_rules alone: no socket, no table, no client. A seat's own knowledge of the match
goes in, one of its options comes out. What a bot does not know is None in the match that it is given, or is removed
from it here. Everything else (a key, a connection, when to act) is the client's.
"""

from truc_bots.sharp import LIVE, Effort, OptionResult, Sharp
from truc_bots.worlds import as_seen, world

__all__ = ["LIVE", "Effort", "OptionResult", "Sharp", "as_seen", "world"]
