"""The game's HTTP API against its own description, by schemathesis: generated requests, good and bad."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance

from godojo.bridge.http import GameClient
from godojo.engines.godot.find import find
from godojo.engines.godot.project import problem_lines
from godojo.errors import GodojoError
from tests.http_games import HttpGame, started_game
from tests.nightly import repeats

pytestmark = [pytest.mark.engine, pytest.mark.slow]
EXAMPLES = repeats(6, nightly=60)
"""Of each operation, good ones and bad ones."""


@pytest.fixture(scope="module")
def game() -> Iterator[HttpGame]:
    try:
        find()
    except GodojoError as error:
        pytest.skip(str(error))
    with started_game("navigation") as started:
        yield started
        assert not problem_lines("\n".join(started.process.last_lines(10_000)))


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.timeout(repeats(240, nightly=1200))
def test_answers_are_what_the_description_says(game: HttpGame, mode: GenerationMode) -> None:
    with GameClient(game.url, game.token) as client:
        client.reset(1, num_envs=1)  # from then on the description knows how long an action is
    described = schemathesis.openapi.from_url(f"{game.url}/openapi.json")
    operations = [found.ok() for found in described.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) == 10
    tried = Counter[str]()
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and not operation.body:
            continue  # what is asked for without words cannot be asked for wrongly

        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        @hypothesis.settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        def ask(case: schemathesis.Case[Any]) -> None:
            tried[operation.label] += 1  # noqa: B023 - asked within the loop's turn
            # Options are the game's own: it may refuse any of them, and numbers that the engine cannot read.
            is_up_to_the_game = isinstance(case.body, dict) and "options" in case.body
            excluded: list[Any] = [positive_data_acceptance] if is_up_to_the_game else []
            case.call_and_validate(headers={"Authorization": f"Bearer {game.token}"}, excluded_checks=excluded)

        ask()
    assert sum(tried.values()) >= len(tried)
    assert tried


def test_the_game_plays_on_after_all_that(game: HttpGame) -> None:
    with GameClient(game.url, game.token) as client:
        assert client.load_scene("course").scene == "course"
        client.reset(3)
        step = client.act([0.0, 1.0, 0.0], 60)
        assert step.terms["progress"] > 0.5
