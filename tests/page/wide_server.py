"""`truc-server` with a door for as many browsers at one address as a whole suite has."""

from truc_server import web
from truc_server.main import main

web.CONNECTIONS = web.NETWORK_CONNECTIONS = 10_000
web.REQUESTS_PER_MIN = 1_000_000

if __name__ == "__main__":
    main()
