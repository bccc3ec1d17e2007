"""How Alembic runs a migration here: on the caller's connection, inside the caller's transaction.

All or nothing: no revision commits by itself, so a process killed half-way leaves the old schema.
"""

from alembic import context

from truc_server.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
