"""A match as one page of HTML: it needs nothing beside itself, can be read without script, and stepped through with it."""

from truc_client.report.page import page

__all__ = ["page"]
