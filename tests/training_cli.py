"""`godojo train navigation` in this process, for tests of the trainers."""

import pytest

from godojo.cli import main


def train(*words: str, status: int = 0, game: str = "navigation") -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", *([game] if game else []), *words])
    assert ended.value.code == status
