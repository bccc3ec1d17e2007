"""Alembic's folder: env.py says how a migration runs, versions/ holds the revisions."""
