"""The line to a server: how it is reached, how the server proves who it is, and what is asked and answered over it."""
