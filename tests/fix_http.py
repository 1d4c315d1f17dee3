"""A real HTTP server on loopback that can be told to misbehave."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, object] | tuple[int, object, str]  # status, body, Retry-After


class Server:
    """What was asked of the server, and the answers it shall give, the last one for ever."""

    def __init__(self, *answers: Callable[[dict], Answer]) -> None:
        self.answers = list(answers)
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.paths: list[str] = []
        self.url = ""


@contextmanager
def serving(*answers: Callable[[dict], Answer]) -> Iterator[Server]:
    state = Server(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.bodies.append(body)
            state.headers.append(dict(self.headers))
            state.paths.append(self.path)
            answer = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            status, content, *later = answer(body)
            written = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(written)))
            if later:
                self.send_header("retry-after", later[0])
            self.end_headers()
            with suppress(ConnectionError):  # who asked has given up
                self.wfile.write(written)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
