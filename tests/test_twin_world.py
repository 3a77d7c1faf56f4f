"""Worlds of compiled games: records and references, the order of a tick, states, seeds and threads."""

# mypy: disable-error-code="no-untyped-call, no-untyped-def, call-arg, attr-defined"
# Functions that are compiled have no types.

from pathlib import Path

import numba
import numpy as np
import pytest

from godojo.errors import GodojoError
from godojo.resources import godot_sources
from godojo.twin.gdscript.program import compile_program
from godojo.twin.gdscript.runtime.arrays import size
from godojo.twin.gdscript.runtime.chance import randf
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.scene.snapshot import Snapshot, read_snapshot
from godojo.twin.world import api, prelude, ref_types, worlds
from godojo.twin.world.dojo import with_native_agents, world_seed
from godojo.twin.world.kernels import space_of, world_at
from godojo.twin.world.refs import (
    ERROR_AT,
    NULL_REF,
    OUT_OF_RANGE,
    OVERFLOW,
    RefClass,
    is_null,
    record_at,
    world_random,
)
from godojo.twin.world.tables import NATIVE, ClassTable
from godojo.twin.world.worlds import TwinWorlds

SNAPSHOTS = Path(__file__).parent / "twin_snapshots"
ARCADE = Path(__file__).parent / "godot_rl_games" / "arcade"
TABLE = ClassTable(
    {
        "Base": ("Node3D", {"speed": "float", "count": "int"}),
        "Player": (
            "Base",
            {
                "place": "Vector2",
                "is_up": "bool",
                "numbers": "Array[float]:4",
                "friend": "Ref[Player]",
                "others": "Array[Ref[Base]]:4",
            },
        ),
    }
)
Player, Node3D = RefClass(TABLE, "Player"), RefClass(TABLE, "Node3D")
Shape = RefClass(NATIVE, "CollisionShape3D")
AT = ref_types.DEAD_AT + TABLE.largest


def play(player):
    player.speed = player.speed + 1.5
    player.count += 3
    player.place = player.place + Vector2(1.0, player.speed)
    player.is_up = not player.is_up
    player.numbers.append(player.speed)
    total = 0.0
    for number in player.numbers:
        total += number
    if not is_null(player.friend):
        player.friend.speed = total
    player.friend = Player() if player.count > 100 else player
    player.others.append(player)
    for other in player.others:
        other.count += 1
    Node3D(player).position = Vector3(1.0, 2.0, total)
    return randf(world_random(player)) + total + len(player.numbers) + size(player.others)


_play = numba.njit(play)


@numba.njit
def at(row, offset):
    return ref_types._reference(ref_types.pointer(row.ctypes.data), offset, Player)


@numba.njit
def play_compiled(row):
    return _play(at(row, AT))


def new_row() -> np.ndarray:
    row = np.zeros(AT + TABLE["Player"].size, np.uint8)
    Player.at(row, AT).friend = Player()
    return row


def error_of(row: np.ndarray) -> int:
    return int(row[ERROR_AT : ERROR_AT + 4].view(np.int32)[0])


def test_references_are_the_same_in_python_and_compiled() -> None:
    plain, compiled = new_row(), new_row()
    with np.errstate(all="ignore"):
        for _ in range(4):
            assert play(Player.at(plain, AT)) == play_compiled(compiled)
            assert np.array_equal(plain, compiled)
        assert error_of(plain) == 0
        play(Player.at(plain, AT))
        play_compiled(compiled)
    assert error_of(plain) == error_of(compiled) == OVERFLOW
    assert np.array_equal(plain, compiled)


def test_wrong_indices_and_null_are_noted_and_change_no_other_memory() -> None:
    @numba.njit
    def read(row, index):
        return at(row, AT).numbers[index]

    @numba.njit
    def write_null(row):
        at(row, AT).friend.speed = 7.0

    row = new_row()
    read(row, 2)
    assert error_of(row) == OUT_OF_RANGE
    row = new_row()
    before = row.copy()
    write_null(row)
    assert error_of(row) == NULL_REF
    changed = np.flatnonzero(row != before)
    assert all(ERROR_AT <= place < ERROR_AT + 4 or ref_types.DEAD_AT <= place < AT for place in changed)


def test_records_extend_those_of_their_base() -> None:
    node, player = NATIVE["Node3D"], TABLE["Player"]
    assert {field.name: field.offset for field in node.fields}.items() <= {
        field.name: field.offset for field in player.fields
    }.items()
    assert all(field.offset % 8 == 0 for field in player.fields if field.type in ("float", "int"))
    with pytest.raises(GodojoError, match="cannot hold a Dictionary"):
        ClassTable({"Odd": ("Node", {"table": "Dictionary"})})
    with pytest.raises(GodojoError, match="inherit each other"):
        ClassTable({"One": ("Two", {}), "Two": ("One", {})})


def snapshot_of(name: str) -> Snapshot:
    return read_snapshot(SNAPSHOTS / f"{name}.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twins")


@pytest.fixture(scope="module")
def driving(folder: Path) -> TwinWorlds:
    snapshot = snapshot_of("driving")
    program = compile_program(snapshot, lambda path: (ARCADE / path.removeprefix("res://")).read_text())
    return TwinWorlds(snapshot, program, 48, folder)


def played(worlds: TwinWorlds, steps: int, seed: int) -> np.ndarray:
    role = worlds.roles["shared_policy"]
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(steps):
        role.action[..., 0] = chance.uniform(-1, 1, role.action.shape[:2])
        role.action[..., 1] = chance.integers(2, size=role.action.shape[:2])
        worlds.step()
        found.append(np.concatenate([role.observation[:, 0], role.reward, role.terminated], axis=1))
    return np.array(found)


def test_a_game_is_the_same_with_any_number_of_threads(driving: TwinWorlds) -> None:
    assert driving.num_worlds == 48
    assert driving.ticks_per_decision == 4
    results = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        driving.reset(5)
        results.append(played(driving, 150, 1))
    assert np.array_equal(results[0], results[1])
    assert results[0][..., -1].any()  # episodes end
    assert not np.array_equal(results[0][-1, :16], results[0][-1, 16:32])  # instances have random numbers of their own


def test_worlds_continue_from_a_saved_state(driving: TwinWorlds) -> None:
    driving.reset(6)
    played(driving, 20, 2)
    state = driving.save_state()
    expected = played(driving, 60, 3)
    driving.reset(7)
    driving.load_state(state)
    assert np.array_equal(played(driving, 60, 3), expected)
    with pytest.raises(GodojoError, match="does not fit"):
        driving.load_state({**state, "rows": state["rows"][:1]})


def test_ends_are_reported_with_the_last_observation(driving: TwinWorlds) -> None:
    driving.reset(8)
    role = driving.roles["shared_policy"]
    total = np.zeros(role.reward.shape)
    for _ in range(200):
        before = role.observation.copy()
        role.action[...] = 1.0  # full throttle into the verge
        driving.step()
        total += role.reward
        done = role.terminated
        if done.any():
            assert np.array_equal(role.final_observation[done], before[done])
            np.testing.assert_allclose(role.final_score[done], total[done], rtol=1e-5)
            assert np.array_equal(driving.ended, done[:, 0])
            assert role.final_measures is not None
            assert (role.final_measures[done] == 0.0).all()
            return
    pytest.fail("nobody left the road")


@pytest.mark.nightly  # the first game with bodies compiles the physics, which takes a minute
@pytest.mark.timeout(900)
def test_dojo_agents_play_rounds(folder: Path) -> None:
    snapshot = snapshot_of("first_agent")
    program = compile_program(snapshot, lambda path: (godot_sources() / path.removeprefix("res://")).read_text())
    assert program.refusals == []
    assert not any(path.endswith("dojo_agent.gd") for path in with_native_agents(snapshot).scripts)
    twin = TwinWorlds(snapshot, program, 8, folder)
    twin.reset(snapshot.seed)
    role = twin.roles["ball"]
    lengths, total = [], np.zeros(role.terms.shape)
    for _ in range(170):
        role.action[...] = np.sign(role.observation[..., :2])
        twin.step()
        lengths += twin.length_ticks[twin.ended].tolist()
        done = role.terminated | role.truncated
        assert np.array_equal(done.all(axis=1), twin.ended)
        if done.any():
            np.testing.assert_allclose(role.final_terms[done], (total + role.terms)[done], atol=1e-4)
        total = np.where(done[..., None], 0.0, total + role.terms)
    assert len(lengths) >= 8
    assert max(lengths) <= 600  # max_ticks


@numba.njit
def enable(rows, offset):
    prelude.set_disabled(record_at(world_at(rows, 0), offset, Shape), False)


@pytest.mark.nightly  # as above
@pytest.mark.timeout(900)
def test_a_shape_that_is_enabled_later_is_found(folder: Path) -> None:
    snapshot = snapshot_of("jumper")
    shape = next(node for node in snapshot.nodes if node.native_class == "CollisionShape3D")
    shape.properties["disabled"] = ["bool", True]
    program = compile_program(snapshot, lambda path: (ARCADE / path.removeprefix("res://")).read_text())
    twin = TwinWorlds(snapshot, program, 16, folder)
    twin.reset(1)
    node = twin.node(0, shape.path)
    low, high = space_of(node).bounds[:3, node.shape_body], space_of(node).bounds[3:, node.shape_body]
    assert (low > high).all()
    enable(twin._rows, twin.layout.offsets[shape.index])
    assert (low < high).all()


def test_every_call_that_is_offered_exists() -> None:
    names = set(dir(prelude))
    offered = {method.python for method in api.METHODS.values() if not method.python.startswith(".")}
    for (cls, name), one in api.PROPERTIES.items():
        offered |= {text for text in (one.getter, one.setter) if text}
        if one.field and cls in NATIVE.classes:
            assert name in NATIVE[cls].by_name, (cls, name)
    assert offered <= names, sorted(offered - names)


def test_chance_is_seeded_as_in_the_engine() -> None:
    """`chance.seed` of the snapshot, which was taken with the seed 0."""
    snapshot = snapshot_of("first_agent")
    generator = next(one for one in snapshot.resources if one.class_name == "RandomNumberGenerator")
    assert world_seed(snapshot.seed, 0) == generator.properties["seed"][1]


def test_refused_programs_have_no_worlds(folder: Path) -> None:
    snapshot = snapshot_of("driving")
    program = compile_program(snapshot, lambda path: (ARCADE / path.removeprefix("res://")).read_text())
    program.refusals.append(("res://driving.gd", 3, "await is not compiled"))
    with pytest.raises(GodojoError, match=r"res://driving.gd:3: await is not compiled"):
        TwinWorlds(snapshot, program, 1, folder)
    assert worlds.seeded(1) != worlds.seeded(2)
