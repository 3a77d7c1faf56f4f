"""The HTML document of the page: viser's client with our title, icon, layout and a notice while it loads."""

import html
import re
from importlib import resources
from pathlib import Path

import viser

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect x='2' y='2' width='28' height='28' rx='7' fill='%23ff7810'/%3E"
    "%3Cg fill='%23fff8ec'%3E%3Ccircle cx='10.5' cy='14' r='4.5'/%3E%3Ccircle cx='21.5' cy='14' r='4.5'/%3E%3C/g%3E"
    "%3Cg fill='%23171a26'%3E%3Ccircle cx='11.5' cy='14.5' r='2.2'/%3E%3Ccircle cx='22.5' cy='14.5' r='2.2'/%3E%3C/g%3E"
    "%3C/svg%3E"
)


def document(title: str) -> bytes:
    """The whole document; everything else arrives over the websocket."""
    client = Path(viser.__file__).parent / "client" / "build" / "index.html"
    style, notice = (
        resources.files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "loading.html")
    )
    name = html.escape(title)
    # Replacements are functions: a backslash in a name or in the script is no escape of a pattern.
    text = client.read_text(encoding="utf-8")
    text = re.sub(r"<title>.*?</title>", lambda _: f"<title>{name} · Godojo</title>", text, count=1)
    text = re.sub(r'<link\s+rel="icon".*?/>', lambda _: f'<link rel="icon" href="{_ICON}">', text, count=1, flags=re.S)
    text = text.replace("<body>", f"<body>\n<style>\n{style}</style>\n{notice.replace('{name}', name)}", 1)
    return text.encode()
