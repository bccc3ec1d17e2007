"""The door for browsers: pages over HTTP and the protocol in a WebSocket, on a port of their own."""
