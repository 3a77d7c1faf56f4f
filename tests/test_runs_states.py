"""Training states: everything a learner remembers comes back bit by bit, and nothing else can be saved."""

import io
from typing import Any

import numpy as np
import pytest
import torch

from godojo import make_vec
from godojo.runs.states import read_state, write_state


def through_a_file(state: dict[str, Any]) -> Any:
    buffer = io.BytesIO()
    write_state(state, buffer)
    buffer.seek(0)
    return read_state(buffer)


def test_all_kinds_come_back() -> None:
    records = np.zeros(3, np.dtype([("position", np.float32, 3), ("is_it", np.bool_), ("seed", np.uint64)], align=True))
    records["seed"] = 2**64 - 1
    state: dict[str, Any] = {
        "tensor": torch.arange(6, dtype=torch.float64).reshape(2, 3),
        "half": torch.ones(2, dtype=torch.bfloat16),
        "records": records,
        "fortran": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
        "nothing": np.zeros((0, 4), np.float32),
        "one": np.array(3.5, np.float32),
        "scalar": np.float32(0.1),
        "texts": np.array(["now", "start"]),
        "bytes": b"\x00\xff",
        "no bytes": b"",
        "chance": np.random.default_rng(1).bit_generator.state,
        "nested": [1, (2.5, None, True), {"x": "y", 3: -(2**80)}],
    }
    back = through_a_file(state)
    assert torch.equal(back["tensor"], state["tensor"])
    assert torch.equal(back["half"], state["half"])
    for name in ("records", "fortran", "nothing", "one", "texts"):
        assert back[name].dtype == state[name].dtype
        assert back[name].shape == state[name].shape
        assert np.array_equal(back[name], state[name])
    assert type(back["scalar"]) is np.float32
    assert back["scalar"] == np.float32(0.1)
    for name in ("bytes", "no bytes", "chance", "nested"):
        assert back[name] == state[name]


def test_optimiser_and_chance_go_on_as_if_nothing_had_been() -> None:
    def made() -> tuple[torch.nn.Linear, torch.optim.Adam, torch.Generator]:
        layer = torch.nn.Linear(3, 2)
        return layer, torch.optim.Adam(layer.parameters(), lr=0.01), torch.Generator()

    def learn(layer: torch.nn.Linear, optimiser: torch.optim.Adam, generator: torch.Generator) -> None:
        for _ in range(3):
            optimiser.zero_grad()
            layer(torch.randn(4, 3, generator=generator)).square().sum().backward()
            optimiser.step()

    first = made()
    learn(*first)
    state: dict[str, Any] = {
        "layer": first[0].state_dict(),
        "optimiser": first[1].state_dict(),
        "generator": first[2].get_state(),
    }
    back = through_a_file(state)
    second = made()
    second[0].load_state_dict(back["layer"])
    second[1].load_state_dict(back["optimiser"])
    second[2].set_state(back["generator"])
    learn(*first)
    learn(*second)
    assert all(
        torch.equal(one, other) for one, other in zip(first[0].parameters(), second[0].parameters(), strict=True)
    )


def test_worlds_go_on_bit_by_bit() -> None:
    with make_vec("tag", num_worlds=8) as worlds, make_vec("tag", num_worlds=8) as others:
        worlds.reset(1)
        others.reset(2)
        chance = np.random.default_rng(3)

        def actions() -> dict[str, np.ndarray]:
            shapes = {name: role.action.shape for name, role in worlds.roles.items()}
            return {name: chance.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}

        for _ in range(30):
            worlds.step(actions())
        others.load_state(through_a_file({"worlds": worlds.save_state()})["worlds"])
        for _ in range(200):
            given = actions()
            worlds.step(given)
            others.step(given)
        for name, role in worlds.roles.items():
            assert np.array_equal(role.observation, others.roles[name].observation)


def test_a_view_is_saved_without_what_it_is_a_view_of() -> None:
    buffer = io.BytesIO()
    write_state({"view": torch.zeros(1_000_000)[:10]}, buffer)
    assert len(buffer.getvalue()) < 10_000


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, np.array([object()]), {"__numpy__": 1}, {(1, 2): 3}, lambda: None, 1j]
)
def test_what_could_not_be_read_again_is_refused_by_its_path(value: object) -> None:
    with pytest.raises(TypeError, match=r"state\['a'\]"):
        write_state({"a": value}, io.BytesIO())
