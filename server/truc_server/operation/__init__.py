"""What surrounds a running server: logs, figures, disk, limits of the process, the service manager."""
