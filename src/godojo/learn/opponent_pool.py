"""Past selves: snapshots of each role's policy, rated by the rounds they play, from which opponents are drawn."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from openskill.models import PlackettLuce, PlackettLuceRating

from godojo.learn.networks import Policy, PolicyShape

GAMES_PER_RESULT = 16
"""A batch of rounds between the same two counts as at most so many games: they tell of the same thing."""
DRIFT = 0.5
"""How much less sure the rating of a policy that learns becomes with every update."""

_model = PlackettLuce()


class Rating(NamedTuple):
    """An openskill rating: the true skill is likely within two `sigma` of `mu`."""

    mu: float = _model.mu
    sigma: float = _model.sigma


class PastCheckpoint(NamedTuple):
    """A policy as it was."""

    agent_steps: int
    policy: Policy
    rating: Rating


class OpponentPool:
    """The past selves of two roles that play against each other, and everybody's rating."""

    def __init__(self, roles: Sequence[str], size: int) -> None:
        self.roles, self.size = tuple(roles), size
        self.past: dict[str, list[PastCheckpoint]] = {role: [] for role in roles}
        self.now = dict.fromkeys(roles, Rating())

    def join(self, role: str, policy: Policy, agent_steps: int) -> None:
        """Keeps a copy of the policy. When there are too many, the one that leaves the smallest gap goes.

        The first and the newest stay; of a opponent_pool of one, the newest.
        """
        frozen = copy.deepcopy(policy).requires_grad_(False).eval()
        self.past[role].append(PastCheckpoint(agent_steps, frozen, self.now[role]))
        if len(self.past[role]) > self.size:
            if self.size == 1:
                del self.past[role][0]
                return
            ages = [one.agent_steps for one in self.past[role]]
            gaps = [after - before for before, after in zip(ages[:-2], ages[2:], strict=True)]
            del self.past[role][1 + int(np.argmin(gaps))]

    def draw(self, role: str, against: str, rng: np.random.Generator) -> int | None:
        """A past self of `role` to play against the present `against`.

        Every other time anybody, so that nothing that was once known is forgotten; otherwise the more even the match,
        the likelier.
        """
        if not self.past[role]:
            return None
        even = [4.0 * p * (1.0 - p) for p in (self._chance(one.rating, self.now[against]) for one in self.past[role])]
        weights = np.array(even) + 0.05
        return int(rng.choice(len(even), p=0.5 * weights / weights.sum() + 0.5 / len(even)))

    def drift(self) -> None:
        """Whoever learns may have changed."""
        for role, rating in self.now.items():
            sigma = min((rating.sigma**2 + DRIFT**2) ** 0.5, _model.sigma)
            self.now[role] = Rating(rating.mu, sigma)

    def record(self, players: Mapping[str, int | None], wins: Mapping[str, int]) -> None:
        """So many rounds won by either role; players are past selves by index, or None for the present policy."""
        one, other = self.roles
        total = wins[one] + wins[other]
        games = min(total, GAMES_PER_RESULT)
        if not games:
            return
        share = wins[one] / total
        ratings = {role: self._rating(role, players[role]) for role in self.roles}
        for game in range(games):
            # Evenly spread, so that the order of results does not matter.
            first_wins = int((game + 1) * share + 0.5) > int(game * share + 0.5)
            teams = [[_model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in ratings.values()]
            rated = _model.rate(teams, ranks=[1, 2] if first_wins else [2, 1])
            ratings = {role: Rating(*_mu_sigma(team[0])) for role, team in zip(self.roles, rated, strict=True)}
        for role, rating in ratings.items():
            index = players[role]
            if index is None:
                self.now[role] = rating
            else:
                self.past[role][index] = self.past[role][index]._replace(rating=rating)

    def state(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        return {
            "now": {role: list(rating) for role, rating in self.now.items()},
            "past": {
                role: [
                    {"agent_steps": one.agent_steps, "weights": one.policy.state_dict(), "rating": list(one.rating)}
                    for one in selves
                ]
                for role, selves in self.past.items()
            },
        }

    def load_state(self, state: Mapping[str, Any], shapes: Mapping[str, PolicyShape]) -> None:
        self.now = {role: Rating(*state["now"][role]) for role in self.roles}
        for role in self.roles:
            self.past[role] = []
            for one in state["past"][role]:
                policy = Policy(shapes[role])
                policy.load_state_dict(one["weights"])
                policy.requires_grad_(False).eval()
                self.past[role].append(PastCheckpoint(one["agent_steps"], policy, Rating(*one["rating"])))

    def _rating(self, role: str, index: int | None) -> Rating:
        return self.now[role] if index is None else self.past[role][index].rating

    def _chance(self, one: Rating, other: Rating) -> float:
        teams = [[_model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in (one, other)]
        return float(_model.predict_win(teams)[0])


def _mu_sigma(rating: PlackettLuceRating) -> tuple[float, float]:
    return rating.mu, rating.sigma
