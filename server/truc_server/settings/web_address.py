"""Where browsers come in, by the settings."""

from truc_server.settings.settings import WebSettings


def place_of(web: WebSettings) -> tuple[str, int]:
    """Return host and port to listen on."""
    host, _, port = web.listen.rpartition(":")
    return host.strip("[]"), int(port)


def origin_of(web: WebSettings, port: int) -> str:
    """Return what browsers must send as origin; `port` is where the server listens."""
    return web.origin or f"http://localhost:{port}"


def known_origin(web: WebSettings) -> str | None:
    """Return the origin as far as the settings tell it: None if no browser is served, or at a port that is free then."""
    if not web.listen:
        return None
    _, port = place_of(web)
    return origin_of(web, port) if port or web.origin else None
