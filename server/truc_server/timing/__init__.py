"""The clock the server runs by, and the timers set on it."""
