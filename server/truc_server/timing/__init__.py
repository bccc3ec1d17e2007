"""The clock the server runs by, the timers set on it, and how often something may be done."""
