"""The programs that `truc` runs: commands, the table on the screen, replay and report."""
