"""Branches of GDScript: where they begin, and a copy of a script that counts them.

The calls are put before the first statement of each block, on the same line: errors keep their lines.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

CALL = "DojoCoverage.hit({}); "
MOST = 65536
"""As many as `dojo_coverage.gd` can count."""
_TOKEN = re.compile(
    r'("""|\'\'\')(?:\\.|(?!\1).)*?(?:\1|\Z)'  # texts over several lines
    r'|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?'
    r"|\#[^\n]*|[()\[\]{}]|\\\n|\n",
    re.DOTALL,
)
_NO_STATEMENTS = re.compile(r"(?:@\w+|var|static\s+var|const|class|class_name|match|enum|signal|for|while)\b|@")
"""How lines begin that end with a colon and are not followed by statements; or by those of a loop, which run often."""
_INDENT = re.compile(r"[ \t]*")


class _Line(NamedTuple):
    """A logical line: one that may go on in brackets, texts or after a backslash."""

    start: int
    indent: int
    code: str
    """Without comments and texts."""


def instrumented(text: str, first: int) -> tuple[str, tuple[int, ...]]:
    """The script with calls for branches from the number `first` on, and the line of each branch."""
    starts, lines = _branches(text)
    parts, end = [], 0
    for number, start in enumerate(starts):
        parts += [text[end:start], CALL.format(first + number)]
        end = start
    return "".join((*parts, text[end:])), lines


@lru_cache(maxsize=4096)
def _branches(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where the first statement of each block is, and its line."""
    starts: list[int] = []
    opener: _Line | None = None
    for line in _logical_lines(text):
        if opener is not None and line.indent > opener.indent:
            starts.append(line.start + line.indent)
        opens = line.code.endswith(":") and not _NO_STATEMENTS.match(line.code)
        opener = line if opens else None
    return tuple(starts), tuple(text.count("\n", 0, start) + 1 for start in starts)


def _logical_lines(text: str) -> Iterator[_Line]:
    start, depth, code, last = 0, 0, [], 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        code.append(text[last : token.start()])
        last = token.end()
        if word in "([{":
            depth += 1
            code.append(word)
        elif word in ")]}":
            depth -= 1
            code.append(word)
        elif word[0] in "\"'":
            code.append('""')
        elif word == "\n" and depth <= 0:
            yield from _line(text, start, code)
            start, depth, code = last, 0, []
    code.append(text[last:])
    yield from _line(text, start, code)


def _line(text: str, start: int, code: list[str]) -> Iterator[_Line]:
    stripped = "".join(code).strip()
    indent = _INDENT.match(text, start)
    if stripped and indent is not None:
        yield _Line(start, len(indent[0]), stripped)
