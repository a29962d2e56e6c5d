"""A process that crowds a service without a token, in one of several ways, until it is killed."""

from __future__ import annotations

import resource
import selectors
import socket
import sys
import time

HEAD = b"GET /policy HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"
BODY = b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n"
WAYS = {
    "idle": (b"", b""),
    "one header a second": (HEAD, b"X-Slow: 1\r\n"),
    "one byte of the body a second": (BODY, b"x"),
    "nothing is read": (WHOLE * 200, WHOLE * 200),
}
"""What a connection sends at first, and then every second."""


def crowd(port: int, way: str, count: int) -> None:
    """Keep ``count`` connections open; one that is closed is opened again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count + 50:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 50), hard))
    first, then = WAYS[way]
    watched = selectors.DefaultSelector()
    open_now, told = 0, False

    def send(each: socket.socket, words: bytes) -> None:
        try:
            if words:
                each.send(words)
        except BlockingIOError:
            pass
        except OSError:
            lose(each)

    def lose(each: socket.socket) -> None:
        nonlocal open_now
        if each.fileno() >= 0:
            watched.unregister(each)
            each.close()
            open_now -= 1

    while True:
        while open_now < count:
            each = socket.create_connection(("127.0.0.1", port))
            each.setblocking(False)
            watched.register(each, selectors.EVENT_READ)
            open_now += 1
            send(each, first)
        if not told:
            print("crowded", flush=True)
            told = True
        until = time.monotonic() + 1
        while (left := until - time.monotonic()) > 0:
            if way == "nothing is read":
                time.sleep(left)
                break
            for key, _ in watched.select(left):
                assert isinstance(key.fileobj, socket.socket)
                try:
                    if not key.fileobj.recv(65536):
                        lose(key.fileobj)
                except OSError:
                    lose(key.fileobj)
        for key in list(watched.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            send(key.fileobj, then)


if __name__ == "__main__":
    crowd(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
