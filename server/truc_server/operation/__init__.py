"""What keeps a server running: logs, disk, limits of the process, draining, upkeep."""
