"""The wire: messages as bytes in frames, the state of a connection, the handshake, capabilities, what lies below."""
