"""The tree over HTTP, and the frames of the protocol in a WebSocket: for a server's door and for `truc web`.

Imported only where browsers are served: h11 and wsproto are used here, and nowhere above.
"""
