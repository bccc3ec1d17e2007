"""What the host sees: settings, the data folder and its keys, the commands around a server, logs, games of its own."""
