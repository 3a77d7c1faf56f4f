"""Rules of tag written a second time, slowly and from docs/games/tag.md and tag-motion.md, to judge the twin by."""

import math

import numpy as np

from godojo.games.tag.settings import TagSettings
from tests.tag_games import TICK_S, Moment
from tests.tag_geometry import depth_m, outside_m


def goes_on(moment: Moment) -> list[tuple[int, int]]:
    """World and index of every agent that took part and whose round goes on."""
    active = (moment.before["active"] == 1) & (moment.after["active"] == 1) & ~moment.ended[:, None]
    return [(int(world), int(number)) for world, number in np.argwhere(active)]


def wish_and_jump(moment: Moment, world: int, number: int) -> tuple[float, bool]:
    x, z, jump = np.clip(moment.action[world, number].astype(float), -1, 1)
    return min(math.hypot(x, z), 1.0), bool(jump > 0)


def flat_speed(agent: np.void) -> float:
    return math.hypot(float(agent["velocity"][0]), float(agent["velocity"][2]))


def upright_energy(agent: np.void, gravity_mps2: float) -> float:
    return float(agent["velocity"][1]) ** 2 / 2 + gravity_mps2 * float(agent["position"][1])


def top_speed(agent: np.void, settings: TagSettings) -> float:
    return settings.motion.seeker_speed_mps if agent["chases"] else settings.motion.hider_speed_mps


def may_tag(one: np.void, other: np.void) -> bool:
    return bool(one["chases"] and not other["chases"] and not one["immune"] and not other["immune"])


def pushes(team: np.ndarray, number: int, settings: TagSettings) -> float:
    """By how much those who overlap an agent and cannot tag it may speed it up in a tick."""
    sum_mps, size_m = 0.0, settings.body.size_m
    for other, who in enumerate(team):
        if other == number or not who["active"] or may_tag(team[number], who) or may_tag(who, team[number]):
            continue
        overlap = size_m - np.abs(team[number]["position"].astype(float) - who["position"])
        if overlap.min() > 0:
            sum_mps += settings.motion.push_acceleration_mps2 * TICK_S * min(overlap[0], overlap[2]) / size_m
    return sum_mps


def nearest_m(team: np.ndarray, number: int, positions: np.ndarray) -> float | None:
    far = [
        math.dist(positions[number], positions[other])
        for other in range(len(team))
        if team[other]["active"] and team[other]["chases"] != team[number]["chases"]
    ]
    return min(far) if far and team[number]["active"] else None


def reward_terms(before: np.ndarray, after: np.ndarray, settings: TagSettings) -> np.ndarray:
    """The four terms of everybody, from the state before and after a tick."""
    team, size_m = before.copy(), settings.body.size_m
    terms = np.zeros((len(team), 4))
    was, now = before["position"].astype(float), after["position"].astype(float)
    weights = [
        [side.distance_per_m, side.time_per_decision, side.tag, side.survival]
        for side in (settings.rewards.hider, settings.rewards.seeker)
    ]
    for number in range(len(team)):
        old_m, new_m = nearest_m(team, number, was), nearest_m(team, number, now)
        if old_m is not None and new_m is not None:
            terms[number, 0] = weights[team[number]["chases"]][0] * (new_m - old_m)
    for chaser in range(len(team)):
        for other in range(len(team)):
            is_open = team[chaser]["active"] and team[other]["active"] and may_tag(team[chaser], team[other])
            reach_m = size_m + settings.rules.touch_reach_m
            # Within a hair of the reach both answers are right; then what happened is believed.
            gap_m = np.abs(now[chaser] - now[other]).max()
            is_near = (
                gap_m <= reach_m
                if abs(gap_m - reach_m) > 1e-5
                else after[other]["chases"] or not after[other]["active"]
            )
            if not (is_open and is_near):
                continue
            terms[chaser, 2] += weights[1][2]
            terms[other, 2] += weights[0][2]
            if settings.rules.mode == "classic":
                team["chases"][[chaser, other]] = 0, 1
                team["immune"][[chaser, other]] = 1
            else:
                team["active"][other] = 0
    assert (team["chases"] == after["chases"]).all(), "who chases"
    assert (team["active"] == after["active"]).all(), "who is in"
    for number in range(len(team)):
        if before[number]["active"]:
            terms[number, 1] = weights[team[number]["chases"]][1]
    return terms


def check_start(agents: np.ndarray, arenas: np.ndarray, settings: TagSettings) -> None:
    """Everybody takes part, rests on the ground in a spawn area of its own role, and is inside of nothing."""
    rules, size_m, skin_m = settings.rules, settings.body.size_m, settings.motion.skin_m
    assert (agents["active"] == 1).all()
    assert (agents["grounded"] == 1).all()
    assert (agents["immune"] == 0).all()
    assert (agents["velocity"] == 0).all()
    assert (agents["score"] == 0).all()
    assert (np.abs(agents["heading"]) <= math.pi).all()
    if rules.mode == "classic":
        assert (agents["chases"].sum(-1) == 1).all()
    else:
        assert (agents["chases"] == (np.arange(agents.shape[1]) < rules.seekers)).all()
    assert depth_m(agents, arenas, size_m).max(initial=-1) <= 2e-4
    assert outside_m(agents, arenas, size_m).max(initial=-1) <= 2e-4
    for world, arena in enumerate(arenas):
        spawns, bits = arena["spawns"][: arena["spawn_count"]], arena["spawn_roles"][: arena["spawn_count"]]
        for agent in agents[world]:
            may = 3 if rules.mode == "classic" else (1 if agent["chases"] else 2)
            x, y, z = agent["position"].astype(float)
            inside = (
                (np.abs(spawns[:, 0] - x) <= spawns[:, 3] / 2 + 1e-4)
                & (np.abs(spawns[:, 1] + size_m / 2 + skin_m - y) <= 1e-4)
                & (np.abs(spawns[:, 2] - z) <= spawns[:, 4] / 2 + 1e-4)
                & ((bits & may) > 0)
            )
            assert inside.any(), "not in a spawn area"
            ground_m = y - size_m / 2 - skin_m
            tops = [
                arena["high"][1, box]
                for box in range(arena["boxes"])
                if (arena["low"][[0, 2], box] - 1e-4 <= (x, z)).all()
                and (arena["high"][[0, 2], box] + 1e-4 >= (x, z)).all()
            ]
            assert np.abs(np.array([0.0, *tops]) - ground_m).min() <= 2e-4, "on no ground"
