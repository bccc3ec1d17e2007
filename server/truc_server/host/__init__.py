"""What surrounds the server: settings, the data folder, logs, the disk, the host's own games, the service manager."""
