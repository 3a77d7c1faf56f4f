"""Answers to browsers and other peers that are no games."""

import email.utils

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

NO_BROWSER = (
    "This port is for games. A web page tried to connect and was refused, since any page could otherwise play. "
    "Connect from Godot, with a DojoSync node.\n"
)
NOT_HTTP = "This port is for games that speak dojo/1 over WebSocket.\n"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Godojo is waiting for a game</title>
<link rel="icon" href="data:,">
<style>
body { font: 17px/1.6 system-ui, sans-serif; max-width: 36em; margin: 12vh auto; padding: 0 1em; }
body { color: #1d2733; background: #f7f5f0; }
code { background: #e9e4d8; border-radius: 4px; padding: 0.1em 0.35em; }
</style>
<h1>Godojo is waiting for a game</h1>
<p>This port is not a web site. It is where a Godot game connects to be trained.</p>
<ol>
<li>Put a <code>DojoSync</code> node into the scene (the addon is in <code>addons/godojo</code>).</li>
<li>Give it this computer's name and this port.</li>
<li>Run the scene. It connects by itself.</li>
</ol>
<p>Games in other languages speak <code>dojo/1</code>, which <code>docs/protocol.md</code> describes.</p>
</html>
"""


def wants_websocket(request: Request) -> bool:
    return any("websocket" in value.lower() for value in request.headers.get_all("Upgrade"))


def is_from_a_page(request: Request) -> bool:
    """Browsers name the page that asks; games have none."""
    return bool(request.headers.get_all("Origin"))


def page() -> Response:
    return _response(200, "OK", "text/html", _PAGE)


def no_browser() -> Response:
    return _response(403, "Forbidden", "text/plain", NO_BROWSER)


def not_http() -> Response:
    return _response(400, "Bad Request", "text/plain", NOT_HTTP)


def _response(status: int, phrase: str, kind: str, text: str) -> Response:
    body = text.encode()
    headers = Headers(
        [
            ("Date", email.utils.formatdate(usegmt=True)),
            ("Connection", "close"),
            ("Content-Length", str(len(body))),
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Security-Policy", "default-src 'none'; img-src data:; style-src 'unsafe-inline'"),
            ("X-Content-Type-Options", "nosniff"),
        ]
    )
    return Response(status, phrase, headers, body)
