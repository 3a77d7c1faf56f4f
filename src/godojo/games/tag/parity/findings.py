"""What a comparison found: the figures, which parts of the rules differ, and the moments that differ most."""

from collections.abc import Sequence

import msgspec
import numpy as np

from godojo.evaluation.parity.report import (
    AT_LEAST,
    AT_MOST,
    SAME_NUMBER,
    Example,
    Figure,
    Mechanism,
    percentile,
    share,
)
from godojo.games.tag.parity.compare import (
    Compared,
    Divergence,
    mechanisms,
    outcomes,
    own_numbers_apart,
    rays_apart,
    terms_apart,
)
from godojo.games.tag.parity.record import FIELDS
from godojo.games.tag.settings import TICK_S
from godojo.games.tag.spec import LAYOUT

_VISIBLE_M = 1e-4
"""From where on an example's error has begun."""
_EXAMPLES = 3


def figures(groups: Sequence[Compared]) -> list[Figure]:
    """All of them, those with targets first."""
    seconds = np.concatenate([group.seconds.worst_m().ravel() for group in groups])
    rounds = np.concatenate([group.rounds.worst_m().ravel() for group in groups])
    singles = np.concatenate([group.ticks.error_m[:, 1][group.ticks.counts[:, 1]] for group in groups])
    rays = [rays_apart(group) for group in groups]
    ray_m = np.concatenate([error_m.ravel() for error_m, _ in rays])
    is_ray = ~np.isnan(ray_m)
    same_type = np.concatenate([same.ravel() for _, same in rays])[is_ray]
    endings = [pair for group in groups for pair in zip(*outcomes(group), strict=True)]
    same_end = np.array([godot == twin for godot, twin in endings])
    same_length = np.concatenate([group.recording.ticks == group.played.ticks for group in groups])
    own = np.concatenate([own_numbers_apart(group).ravel() for group in groups])
    terms = np.concatenate([terms_apart(group).ravel() for group in groups])
    own, terms = own[~np.isnan(own)], terms[~np.isnan(terms)]
    found = {
        "one_second_median_position_error_m": (percentile(seconds, 50), seconds),
        "one_second_p95_position_error_m": (percentile(seconds, 95), seconds),
        "median_position_error_m": (percentile(rounds, 50), rounds),
        "p90_position_error_m": (percentile(rounds, 90), rounds),
        "ray_error_p99_m": (percentile(ray_m, 99), ray_m),
        "type_agreement": (share(same_type), same_type),
        "outcome_agreement": (share(same_end), same_end),
        "one_tick_p999_position_error_m": (percentile(singles, 99.9), singles),
        "one_second_worst_position_error_m": (percentile(seconds, 100), seconds),
        "worst_position_error_m": (percentile(rounds, 100), rounds),
        "ray_error_worst_m": (percentile(ray_m, 100), ray_m),
        "round_length_agreement": (share(same_length), same_length),
        "observation_agreement": (share(own <= SAME_NUMBER), own),
        "reward_agreement": (share(terms <= SAME_NUMBER), terms),
    }
    return [
        Figure(name, value, int(np.count_nonzero(~np.isnan(of))), AT_MOST.get(name), AT_LEAST.get(name))
        for name, (value, of) in found.items()
    ]


def find_mechanisms(groups: Sequence[Compared]) -> list[Mechanism]:
    """The most frequent first."""
    total = sum(int(group.ticks.counts[:, 1].sum()) for group in groups)
    counts: dict[str, int] = {}
    worst: dict[str, Example] = {}
    for group in groups:
        for name, places in mechanisms(group).items():
            if not len(places):
                continue
            counts[name] = counts.get(name, 0) + len(places)
            errors = group.ticks.error_m[places[:, 0], 1, places[:, 1]]
            world, agent = places[errors.argmax()]
            example = _moment(name, group, group.ticks, int(world), 1, int(agent))
            if name not in worst or example.error > worst[name].error:
                worst[name] = example
    ordered = sorted(counts, key=lambda name: -counts[name])
    return [Mechanism(name, counts[name], counts[name] / total, worst[name].error, worst[name]) for name in ordered]


def examples(groups: Sequence[Compared]) -> list[Example]:
    """The worst seconds, rounds and rays, and rounds that ended differently."""
    found: list[Example] = []
    for what, parts in (
        ("worst second", [group.seconds for group in groups]),
        ("worst round", [group.rounds for group in groups]),
    ):
        moments = []
        for group, part in zip(groups, parts, strict=True):
            worst = np.nan_to_num(part.worst_m(), nan=-1.0)
            for place in np.argsort(worst, axis=None)[::-1][:_EXAMPLES]:
                world, agent = (int(index) for index in np.unravel_index(place, worst.shape))
                seen = part.counts[world, :, agent] & (part.error_m[world, :, agent] > _VISIBLE_M)
                step = int(seen.argmax()) if seen.any() else int(part.error_m[world, :, agent].argmax())
                moments.append((worst[world, agent], _moment(what, group, part, world, step, agent)))
        moments.sort(key=lambda pair: -pair[0])
        found += [msgspec.structs.replace(moment, error=float(error)) for error, moment in moments[:_EXAMPLES]]
    return [*found, *_worst_rays(groups), *_other_endings(groups)]


def causes(figures: Sequence[Figure], found: Sequence[Mechanism], worst: Sequence[Example]) -> list[str]:
    """For each target that is missed, what differs, with the example to look at."""
    lines = []
    for figure in figures:
        if figure.is_met:
            continue
        about = {"ray": "worst ray", "typ": "worst ray", "out": "ended differently", "one": "worst second"}
        what = about.get(figure.name[:3], "worst round")
        example = next((example for example in worst if example.what.startswith(what)), None)
        place = f", as in {_place(example)}" if example else ""
        if what == "worst ray":
            lines.append(f"{figure.name}: rays that pass an edge closely{place}")
        elif found:
            first = found[0]
            lines.append(
                f"{figure.name}: {first.name}, in {first.agent_ticks} single ticks, as in {_place(first.example)}"
                f"; it shows first{place.replace(', as', '')}"
            )
        else:
            lines.append(f"{figure.name}: no single tick differs by more than rounding, which adds up{place}")
    return lines


def _place(example: Example) -> str:
    return f"{example.arena}, {example.game}, episode {example.episode}, tick {example.tick}, agent {example.agent}"


def _moment(what: str, group: Compared, part: Divergence, world: int, step: int, agent: int) -> Example:
    return Example(
        what=what,
        **group.where(int(part.replay.episodes[world])),
        tick=int(part.replay.first[world]) + step,
        agent=agent,
        error=float(part.error_m[world, step, agent]),
        godot=_named(part.godot[world, step, agent]),
        twin=_named(part.replay.states[world, step, agent]),
        before=_named(part.godot[world, step - 1, agent]) if step else None,
    )


def _named(state: np.ndarray) -> dict[str, float]:
    return {name: float(value) for name, value in zip(FIELDS, state, strict=True)}


def _worst_rays(groups: Sequence[Compared]) -> list[Example]:
    found = []
    for group in groups:
        error_m, same = rays_apart(group)
        badness = np.nan_to_num(error_m, nan=-1.0) + np.where(same, 0.0, 1e3)
        settings, recording = group.group.settings, group.recording
        for place in np.argpartition(badness.ravel(), -_EXAMPLES)[-_EXAMPLES:]:
            episode, decision, agent, ray = (int(index) for index in np.unravel_index(place, badness.shape))
            tick = min(decision * settings.rules.ticks_per_decision, int(recording.ticks[episode]))
            godot, twin = (
                _seen(observations[episode, decision, agent], ray, settings.sight.range_m)
                for observations in (recording.observations, group.looks)
            )
            found.append(
                Example(
                    f"worst ray ({ray})",
                    **group.where(episode),
                    tick=tick,
                    agent=agent,
                    error=float(error_m[episode, decision, agent, ray]),
                    godot=godot,
                    twin=twin,
                    before=_named(recording.states[episode, tick, agent]),
                )
            )
    found.sort(key=lambda example: -example.error)
    return found[:_EXAMPLES]


def _seen(observation: np.ndarray, ray: int, range_m: float) -> dict[str, float]:
    distance, who = LAYOUT.view(observation, "rays")[ray].tolist()
    return {"distance_m": distance * range_m, "who": who}


def _other_endings(groups: Sequence[Compared]) -> list[Example]:
    return [
        Example(
            what="ended differently",
            **group.where(episode),
            tick=int(min(ticks)),
            agent=-1,
            error=abs(float(ticks[0] - ticks[1])) * TICK_S,
            godot=f"{godot}, after {ticks[0]} ticks",
            twin=f"{twin}, after {ticks[1]} ticks",
        )
        for group in groups
        for episode, (godot, twin, *ticks) in enumerate(
            zip(*outcomes(group), group.recording.ticks, group.played.ticks, strict=True)
        )
        if godot != twin
    ]
