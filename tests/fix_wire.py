"""A relay on the loopback between a client and the test server: what passes can be counted, and an end held back."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Relay:
    """Passes bytes both ways, for any number of connections."""

    def __init__(self, dsn: str) -> None:
        parts = conninfo_to_dict(dsn)
        host, port = str(parts.get("host", "localhost")), int(str(parts.get("port", 5432)))
        self._server = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        here = self._listener.getsockname()[1]
        self.dsn = make_conninfo(dsn, host="127.0.0.1", port=here, sslmode="disable", gssencmode="disable")
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept nobody any more."""
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # pass on at once, as the server does
                server = socket.socket(socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET)
                server.connect(self._server)
                threading.Thread(target=self._to_server, args=(client, server), daemon=True).start()
                threading.Thread(target=self._to_client, args=(server, client), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), closing(client), closing(server):
            while data := client.recv(1 << 16):
                server.sendall(data)

    def _to_client(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError), closing(client), closing(server):
            while data := server.recv(1 << 16):
                client.sendall(data)


class HeldEnd(Relay):
    """Tells a client only when it speaks next that its server has closed the connection."""

    def __init__(self, dsn: str) -> None:
        self.open = 0  # connections that the server has not closed, or of which not all that it said was passed on
        super().__init__(dsn)

    def _to_client(self, server: socket.socket, client: socket.socket) -> None:
        self.open += 1
        with suppress(OSError):
            while data := server.recv(1 << 16):
                client.sendall(data)
        self.open -= 1
