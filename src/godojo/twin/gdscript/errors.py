"""Why a script is not compiled: file, line and reason, in one line."""

from godojo.errors import GodojoError


class ScriptRefused(GodojoError):
    """A script, or a part of one, outside the language that is compiled."""

    def __init__(self, path: str, refusals: list[tuple[int, str]]) -> None:
        line, reason = refusals[0]
        more = f" (and {len(refusals) - 1} more)" if len(refusals) > 1 else ""
        super().__init__(f"{path}:{line}: {reason}{more}")
        self.path, self.refusals = path, refusals


class Refusal(Exception):
    """Raised where a node cannot be compiled, caught by the statement it belongs to."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


class TreeRefusal(Refusal):
    """A change of the tree: nodes that are made, freed or connected.

    Games often do so behind a condition that holds only while they start, which is over when a twin begins. So the twin
    stops where such code is reached; a game that reaches it for certain is refused.
    """
