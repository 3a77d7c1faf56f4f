"""The opponent pool: past checkpoints of each role, exploiters, and their ratings."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from openskill.models import PlackettLuce, PlackettLuceRating

from godojo.learn.networks import Policy, PolicyShape

GAMES_PER_RESULT = 16
"""A batch of rounds between the same two players counts as at most this many games."""
UNIFORM_SHARE = 0.3
EXPLOITER_SHARE = 0.5
DRIFT = 0.5
"""Growth of a learning policy's rating uncertainty per update."""

_model = PlackettLuce()


class Rating(NamedTuple):
    """An openskill rating: the true skill is likely within two `sigma` of `mu`."""

    mu: float = _model.mu
    sigma: float = _model.sigma


class PastCheckpoint(NamedTuple):
    """A frozen copy of a policy."""

    agent_steps: int
    policy: Policy
    rating: Rating
    is_exploiter: bool = False

    @property
    def name(self) -> str:
        return f"{'exploiter' if self.is_exploiter else 'step'}_{self.agent_steps:012d}"


class OpponentPool:
    """The past checkpoints of two opposing roles, or of one that plays against itself, and all ratings."""

    def __init__(self, roles: Sequence[str], size: int) -> None:
        self.roles, self.size = tuple(roles), size
        self.past: dict[str, list[PastCheckpoint]] = {role: [] for role in roles}
        self.now = dict.fromkeys(roles, Rating())

    def add(self, role: str, policy: Policy, agent_steps: int, *, is_exploiter: bool = False) -> None:
        """Add a copy of the policy. A full pool drops the checkpoint that leaves the smallest gap in time.

        The first and the latest stay; a pool of one keeps the latest. Of exploiters, `EXPLOITER_SHARE` of the pool's
        size are kept besides, the latest.
        """
        frozen = copy.deepcopy(policy).requires_grad_(False).eval()
        past = self.past[role]
        past.append(PastCheckpoint(agent_steps, frozen, self.now[role], is_exploiter))
        alike = [index for index, checkpoint in enumerate(past) if checkpoint.is_exploiter == is_exploiter]
        if len(alike) <= (max(int(self.size * EXPLOITER_SHARE), 1) if is_exploiter else self.size):
            return
        if is_exploiter or self.size == 1:
            del past[alike[0]]
            return
        steps = [past[index].agent_steps for index in alike]
        gaps = [after - before for before, after in zip(steps[:-2], steps[2:], strict=True)]
        del past[alike[1 + int(np.argmin(gaps))]]

    def sample(self, role: str, against: str, rng: np.random.Generator) -> int | None:
        """Sample the index of a past checkpoint of `role` to play against the current policy of `against`.

        A share `UNIFORM_SHARE` of the samples is uniform, so that old skills are not forgotten; the others prefer
        those that `against` does badly against. Returns None if the role has no past checkpoints yet.
        """
        if not self.past[role]:
            return None
        wins = np.array([_win_probability(past.rating, self.now[against]) for past in self.past[role]])
        weights = wins**2 + 1e-3
        shares = (1.0 - UNIFORM_SHARE) * weights / weights.sum() + UNIFORM_SHARE / len(weights)
        return int(rng.choice(len(weights), p=shares))

    def drift(self) -> None:
        """Increase the uncertainty of the current policies, which have changed."""
        for role, rating in self.now.items():
            sigma = min((rating.sigma**2 + DRIFT**2) ** 0.5, _model.sigma)
            self.now[role] = Rating(rating.mu, sigma)

    def record(self, players: Mapping[str, int | None], wins: Mapping[str, int]) -> None:
        """Update the ratings of two players by their wins against each other.

        Players are the index of a past checkpoint, or None for the current policy.
        """
        one, other = self.roles
        self._record((one, players[one]), (other, players[other]), wins[one], wins[other])

    def record_past(self, role: str, past: int, wins: int, losses: int) -> None:
        """Update the ratings of a role's current policy and a past checkpoint of the same role."""
        self._record((role, None), (role, past), wins, losses)

    def _record(self, one: tuple[str, int | None], other: tuple[str, int | None], wins: int, losses: int) -> None:
        total = wins + losses
        games = min(total, GAMES_PER_RESULT)
        if not games:
            return
        win_rate = wins / total
        ratings = [self._rating(*player) for player in (one, other)]
        for game in range(games):
            # Wins are spread evenly: ratings depend on the order of the games.
            first_wins = int((game + 1) * win_rate + 0.5) > int(game * win_rate + 0.5)
            rated = _model.rate(_teams(*ratings), ranks=[1, 2] if first_wins else [2, 1])
            ratings = [Rating(team[0].mu, team[0].sigma) for team in rated]
        for (role, index), rating in zip((one, other), ratings, strict=True):
            if index is None:
                self.now[role] = rating
            else:
                self.past[role][index] = self.past[role][index]._replace(rating=rating)

    def ratings(self) -> dict[str, Any]:
        """All ratings by role, for `ratings.json`."""
        return {
            role: {
                "now": self.now[role]._asdict(),
                "past": [{"agent_steps": past.agent_steps, **past.rating._asdict()} for past in self.past[role]],
            }
            for role in self.roles
        }

    def state(self) -> dict[str, Any]:
        """The whole pool, for a checkpoint."""
        return {
            "now": {role: list(rating) for role, rating in self.now.items()},
            "past": {
                role: [
                    {
                        "agent_steps": past.agent_steps,
                        "weights": past.policy.state_dict(),
                        "rating": list(past.rating),
                        "is_exploiter": past.is_exploiter,
                    }
                    for past in checkpoints
                ]
                for role, checkpoints in self.past.items()
            },
        }

    def load_state(self, state: Mapping[str, Any], shapes: Mapping[str, PolicyShape]) -> None:
        self.now = {role: Rating(*state["now"][role]) for role in self.roles}
        for role in self.roles:
            self.past[role] = []
            for saved in state["past"][role]:
                policy = Policy(shapes[role])
                policy.load_state_dict(saved["weights"])
                policy.requires_grad_(False).eval()
                self.past[role].append(
                    PastCheckpoint(
                        saved["agent_steps"], policy, Rating(*saved["rating"]), saved.get("is_exploiter", False)
                    )
                )

    def _rating(self, role: str, index: int | None) -> Rating:
        return self.now[role] if index is None else self.past[role][index].rating


def _win_probability(one: Rating, other: Rating) -> float:
    return float(_model.predict_win(_teams(one, other))[0])


def _teams(*ratings: Rating) -> list[list[PlackettLuceRating]]:
    """Teams of one player each, as openskill takes them."""
    return [[_model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in ratings]
