"""What stands around the server: settings, the data folder, logs, the disk, games of the host's own, the service manager."""
