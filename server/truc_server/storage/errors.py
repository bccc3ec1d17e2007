"""How storage fails: before anything was written, or in a way after which nothing more may be."""


class StoreError(Exception):
    """The store cannot be opened, read or written; the text says which and why."""


class StoreBusyError(StoreError):
    """Another program held the database during the whole wait; nothing was written, but it may be later."""


class StoreLostError(StoreError):
    """This process does not, or no longer, own a table it wrote to: another one claimed it."""
