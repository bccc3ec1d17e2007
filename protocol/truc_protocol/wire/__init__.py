"""The wire: frames, the connection, the handshake, error codes and capabilities."""
