"""The pages a user reads, and what is in them to type: commands and blocks of code."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PAGES = sorted([*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "REWARD_NOTES"))]) + sorted(
    (ROOT / "docs").rglob("*.md")
)
LAUNCHER = ("python3", "dojo.py")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command that a page tells its reader to type; an inline one may leave something out."""

    page: str
    words: tuple[str, ...]
    is_inline: bool

    @property
    def verb(self) -> str:
        """What follows `python3 dojo.py`; empty for a script."""
        return self.words[2] if self.words[:2] == LAUNCHER and len(self.words) > 2 else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[3:] if self.verb else self.words[1:]

    def __str__(self) -> str:
        return shlex.join(self.words)


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    return [Block(page_name(page), *found) for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def shell_lines(block: Block) -> list[str]:
    """The lines of a shell block, continued ones joined, without comments and empty ones."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if shlex.split(line, comments=True)]


def commands(page: Path) -> list[Command]:
    """In the order of the page: lines of shell blocks, and inline code that begins like a command."""
    text = page.read_text(encoding="utf-8")
    found = [
        (place.start(), line, False)
        for place in _FENCE.finditer(text)
        if place[1] == "sh"
        for line in shell_lines(Block(page_name(page), place[1], place[2]))
    ]
    prose = _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)
    found += [(place.start(), place[1], True) for place in _INLINE.finditer(prose)]
    return [
        Command(page_name(page), words, is_inline)
        for _, line, is_inline in sorted(found, key=lambda one: one[0])
        if (words := _command_words(line))
    ]


def _command_words(line: str) -> tuple[str, ...]:
    """The words of a line that is a command of ours, without variables set in front of it; otherwise none."""
    if not re.match(r"(?:[A-Z_]+=\S* )*(?:python3? |godojo(?: |$)|scripts/)", line):
        return ()
    words = shlex.split(line, comments=True)
    while _ASSIGNMENT.fullmatch(words[0]):
        words.pop(0)
    return tuple(words)
