"""Binary frames: what is packed is unpacked, what lies about itself is refused with the name of who is concerned."""

import re
import struct
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from godojo.bridge.codec import ACTED, TERMINATED, TRUNCATED, RoleStep, StepFrame
from godojo.bridge.messages import Configure, Limits, Ready, RoleDescription, WireError, decode_control
from godojo.bridge.repairs import Repair
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart, Measure, ObservationPart
from tests.dojo_client import GameLayout, PretendGame

PAGE = Path(__file__).parent.parent / "docs" / "protocol.md"


def make_layout(
    worlds: int, roles: list[tuple[int, int, int]], terms: int, truth: int = 0, measures: int = 0
) -> GameLayout:
    """Roles as (agents, numbers observed, numbers done); the first one has measures."""
    return GameLayout(
        Ready(
            worlds,
            4,
            tuple(
                RoleDescription(
                    f"role{index}",
                    agents,
                    (ObservationPart("sight", (told,)),),
                    (ActionPart("move", "continuous", done),),
                    measures=tuple(Measure(f"measure{number}") for number in range(measures if index == 0 else 0)),
                )
                for index, (agents, told, done) in enumerate(roles)
            ),
            tuple(f"term{index}" for index in range(terms)),
            ("nobody", "somebody"),
            ("yard",),
            truth=(ObservationPart("state", (truth,)),) if truth else (),
        )
    )


@st.composite
def steps(draw: st.DrawFn) -> tuple[GameLayout, StepFrame]:
    sizes = st.integers(1, 4)
    worlds, terms = draw(st.integers(1, 5)), draw(sizes)
    truth = draw(st.integers(0, 3))
    roles = draw(st.lists(st.tuples(sizes, sizes, sizes), min_size=1, max_size=3))
    layout = make_layout(worlds, roles, terms, truth, draw(st.integers(0, 3)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ended = np.flatnonzero(random.random(worlds) < 0.5)
    role_steps = []
    for role in layout.roles:
        flags = random.integers(0, 8, (worlds, role.agents)).astype(np.uint8)
        is_final = (flags & (TERMINATED | TRUNCATED)) != 0
        is_final[ended] = True
        rows = random.permutation(np.flatnonzero(is_final)).astype(np.int32)
        told = random.normal(size=(worlds, role.agents, role.observation_size)).astype(np.float32)
        given_terms = random.normal(size=(worlds, role.agents, terms)).astype(np.float32)
        sizes_of_final = (role.observation_size, terms, 1, role.measures)
        final = [random.normal(size=(len(rows), size)).astype(np.float32) for size in sizes_of_final]
        final[3][random.random(final[3].shape) < 0.3] = np.nan  # nothing to report
        role_steps.append(RoleStep(told, given_terms, flags, rows, final[0], final[1], final[2][:, 0], final[3]))
    columns = [ended, ended % 2, ended + 100, np.where(ended % 2, -1, 0)]
    table = np.stack(columns, axis=1).astype(np.int32)
    state = random.normal(size=(worlds, truth)).astype(np.float32) if truth else None
    numbers = draw(st.integers(1, 2**32 - 1)), draw(st.integers(0, 2**32 - 1))
    return layout, StepFrame(*numbers, table, tuple(role_steps), state)


@given(steps())
@settings(deadline=None, max_examples=150)
def test_a_step_arrives_as_it_was_sent(case: tuple[GameLayout, StepFrame]) -> None:
    layout, sent = case
    data = layout.pack_step(sent)
    assert layout.least_step_bytes <= len(data) <= layout.most_step_bytes
    came = layout.unpack_step(data, sent.sequence)
    assert (came.sequence, came.engine_us) == (sent.sequence, sent.engine_us)
    assert_same(came.ended, sent.ended)
    assert (came.truth is None) == (sent.truth is None)
    if came.truth is not None and sent.truth is not None:
        assert_same(came.truth, sent.truth)
    for one, other in zip(came.roles, sent.roles, strict=True):
        for name in RoleStep.__dataclass_fields__:
            assert_same(getattr(one, name), getattr(other, name))
        assert_same(one.acted, (other.flags & ACTED) != 0)
        assert_same(one.terminated, (other.flags & TERMINATED) != 0)
        assert_same(one.truncated, (other.flags & TRUNCATED) != 0)


@given(st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=50)
def test_actions_arrive_as_they_were_sent(sequence: int, seed: int) -> None:
    layout = make_layout(3, [(1, 2, 4), (2, 3, 1)], 1)
    random = np.random.default_rng(seed)
    sent = [random.normal(size=shape).astype(np.float32) for shape in ((3, 1, 4), (3, 2, 1))]
    data = layout.pack_actions(sequence, sent)
    assert len(data) == layout.actions_bytes
    number, came = layout.unpack_actions(data)
    assert number == sequence
    for one, other in zip(came, sent, strict=True):
        assert_same(one, other)


def test_actions_of_any_order_in_memory_and_kind_of_number_are_sent_right() -> None:
    layout = make_layout(2, [(3, 1, 4)], 1)
    wanted = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    _, (came,) = layout.unpack_actions(layout.pack_actions(1, [np.asfortranarray(wanted)]))
    assert_same(came, wanted.astype(np.float32))


def test_actions_of_a_wrong_shape_are_our_own_mistake() -> None:
    layout = make_layout(2, [(3, 1, 4)], 1)
    with pytest.raises(GodojoError, match=r"role0.*\(2, 3, 4\), not \(2, 3, 5\)"):
        layout.pack_actions(1, [np.zeros((2, 3, 5), np.float32)])
    with pytest.raises(GodojoError, match="1 roles, and actions for 2"):
        layout.pack_actions(1, [np.zeros((2, 3, 4), np.float32)] * 2)


@given(steps(), st.data())
@settings(deadline=None, max_examples=150)
def test_a_step_that_is_cut_or_stretched_is_refused(case: tuple[GameLayout, StepFrame], data: st.DataObject) -> None:
    layout, sent = case
    packed = layout.pack_step(sent)
    with pytest.raises(WireError, match="bytes"):
        layout.unpack_step(packed[: data.draw(st.integers(0, len(packed) - 1))], sent.sequence)
    with pytest.raises(WireError, match="bytes"):
        layout.unpack_step(packed + b"\0" * data.draw(st.integers(1, 40)), sent.sequence)


def ended_step() -> tuple[PretendGame, StepFrame]:
    """A step in which world 0 of 3 has ended."""
    game = PretendGame(Configure(3), told=4)
    game.reset(1)
    actions = tuple(np.zeros((3, role.agents, 3), np.float32) for role in game.layout.roles)
    for _ in range(5):
        step = game.step(actions)
    assert step.ended[:, 0].tolist() == [0]
    return game, step


def refused(game: PretendGame, step: StepFrame, *words: str, sequence: int | None = None) -> None:
    with pytest.raises(WireError) as caught:
        game.layout.unpack_step(game.layout.pack_step(step), step.sequence if sequence is None else sequence)
    for word in words:
        assert word in str(caught.value), caught.value


def test_the_wrong_number_is_refused() -> None:
    game, step = ended_step()
    refused(game, step, "number 5", "number 6", sequence=6)


@pytest.mark.parametrize(("value", "instead"), [(np.nan, 0.0), (np.inf, 10.0), (-np.inf, -10.0)])
@pytest.mark.parametrize(
    ("field", "index", "repair"),
    [
        ("observation", (2, 1, 3), Repair("role1", 1, "sight[3]", 1)),
        ("terms", (1, 0, 1), Repair("role1", 0, "reward won", 1)),
        ("final_observation", (1, 0), Repair("role1", 1, "sight[0]", 1)),
        ("final_terms", (0, 0), Repair("role1", 0, "reward near", 1)),
        ("final_score", (1,), Repair("role1", 1, "score", 1)),
    ],
)
def test_a_number_that_is_not_finite_is_replaced(
    field: str, index: tuple[int, ...], repair: Repair, value: float, instead: float
) -> None:
    game, step = ended_step()
    array = getattr(step.roles[1], field).copy()
    array[index] = value
    roles = (step.roles[0], replace(step.roles[1], **{field: array}), *step.roles[2:])
    came = game.layout.unpack_step(game.layout.pack_step(replace(step, roles=roles)), step.sequence)
    assert came.repairs == (repair,)
    array[index] = instead
    assert_same(getattr(came.roles[1], field), array)
    assert_same(came.roles[0].observation, step.roles[0].observation)


def test_huge_numbers_are_numbers() -> None:
    game, step = ended_step()
    huge = np.full_like(step.roles[0].observation, 3e38)
    layout = game.layout
    data = layout.pack_step(replace(step, roles=(replace(step.roles[0], observation=huge), step.roles[1])))
    assert_same(layout.unpack_step(data, step.sequence).roles[0].observation, huge)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([3, 1, 20, 0], ["world 3"]),
        ([-1, 1, 20, 0], ["world -1"]),
        ([0, 3, 20, 0], ["winner 3"]),
        ([0, -1, 20, 0], ["winner -1"]),
        ([0, 1, -20, 0], ["length -20"]),
        ([0, 1, 20, 1], ["arena 1"]),
        ([0, 1, 20, -2], ["arena -2"]),
        ([1, 1, 20, 0], ["has a final row but did not end", "role0 0 in world 0"]),
    ],
)
def test_an_end_that_cannot_be_is_refused(row: list[int], words: list[str]) -> None:
    game, step = ended_step()
    if row[0] == 1:  # it is the flags that say who ended, unless the world did
        quiet = tuple(replace(role, flags=np.full_like(role.flags, ACTED)) for role in step.roles)
        step = replace(step, roles=quiet)
    refused(game, replace(step, ended=np.array([row], np.int32)), *words)


def test_a_world_ends_once() -> None:
    game, step = ended_step()
    refused(game, replace(step, ended=np.repeat(step.ended, 2, axis=0)), "twice")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([0, 6], ["role1", "outside of 0 to 5"]),
        ([0, -1], ["role1", "outside"]),
        ([0, 0], ["role1", "twice"]),
        ([0, 2], ["role1 1 in world 0", "without a final row"]),
    ],
)
def test_final_rows_are_those_who_ended(rows: list[int], words: list[str]) -> None:
    game, step = ended_step()
    changed = replace(step.roles[1], final_rows=np.array(rows, np.int32))
    refused(game, replace(step, roles=(step.roles[0], changed)), *words)


def with_ends(role: RoleStep, rows: list[int], flags: np.ndarray) -> RoleStep:
    """The same, with these rows ended."""
    return replace(
        role,
        flags=flags,
        final_rows=np.array(rows, np.int32),
        final_observation=role.final_observation[: len(rows)],
        final_terms=role.final_terms[: len(rows)],
        final_score=role.final_score[: len(rows)],
    )


def test_an_agent_may_end_alone() -> None:
    game, step = ended_step()
    others = with_ends(step.roles[0], [], np.full_like(step.roles[0].flags, ACTED))
    flags = np.full_like(step.roles[1].flags, ACTED)
    flags[2, 1] |= TERMINATED
    alone = replace(step, ended=step.ended[:0], roles=(others, with_ends(step.roles[1], [5], flags)))
    came = game.layout.unpack_step(game.layout.pack_step(alone), step.sequence)
    assert came.roles[1].final_rows.tolist() == [5]
    assert np.argwhere(came.roles[1].terminated).tolist() == [[2, 1]]
    without = replace(alone, roles=(others, with_ends(step.roles[1], [], flags)))
    refused(game, without, "role1 1 in world 2 ended without a final row")


def test_unknown_flags_and_kinds_are_refused() -> None:
    game, step = ended_step()
    data = bytearray(game.layout.pack_step(step))
    data[-1] = 8
    with pytest.raises(WireError, match="flag"):
        game.layout.unpack_step(data, 5)
    for position in (0, 1, 2):
        data = bytearray(game.layout.pack_step(step))
        data[position] = 9
        with pytest.raises(WireError, match="begins with 2, 0, 0"):
            game.layout.unpack_step(data, 5)


def test_lying_counts_are_refused_before_anything_is_made() -> None:
    game, step = ended_step()
    for offset, words in ((12, "worlds ended, and there are 3"), (16, "role0 ended"), (20, "role1 ended")):
        data = bytearray(game.layout.pack_step(step))
        struct.pack_into("<I", data, offset, 2**32 - 1)
        with pytest.raises(WireError, match=words):
            game.layout.unpack_step(data, 5)


def test_nothing_has_been_done_after_a_reset() -> None:
    game, step = ended_step()
    refused(game, replace(step, sequence=0), "reset")


def test_a_game_too_big_for_a_message_is_refused_with_the_cure() -> None:
    with pytest.raises(WireError, match="fewer worlds"):
        make_layout(4096, [(64, 1000, 1)], 1)
    small = Ready(2, 4, make_ready().roles)
    with pytest.raises(WireError, match="at most 64 are allowed"):
        GameLayout(small, Limits(message_bytes=64))


def make_ready() -> Ready:
    return PretendGame(Configure(2)).ready


def test_the_example_of_the_protocol_page_is_what_is_sent() -> None:
    text = PAGE.read_text(encoding="utf-8")
    ready = decode_control(block(text, "ready"))
    assert isinstance(ready, Ready)
    layout = GameLayout(ready)
    number, (actions,) = layout.unpack_actions(from_hex(block(text, "actions")))
    assert number == 5
    assert actions.reshape(-1).tolist() == [0.5, -1.0]
    assert layout.pack_actions(5, [actions]) == from_hex(block(text, "actions"))

    data = from_hex(block(text, "step"))
    step = layout.unpack_step(data, 5)
    assert step.engine_us == 1000
    assert step.ended.tolist() == [[1, 1, 20, 0]]
    (runner,) = step.roles
    assert runner.observation.reshape(2, 2).tolist() == [[0.25, 1.0], [0.0, 0.0]]
    assert runner.terms.reshape(-1).tolist() == [0.125, 1.0]
    assert runner.final_rows.tolist() == [1]
    assert runner.final_observation.tolist() == [[2.0, -1.0]]
    assert runner.final_terms.tolist() == [[1.5]]
    assert runner.final_score.tolist() == [3.0]
    assert runner.flags.reshape(-1).tolist() == [ACTED, ACTED | TERMINATED]
    assert layout.pack_step(step) == data


def test_every_control_message_of_the_protocol_page_is_understood() -> None:
    found = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    kinds = {msgspec.json.decode(text)["type"] for text in found if decode_control(text)}
    assert kinds == {"hello", "configure", "ready", "reset", "epoch", "plan", "notice", "close", "error"}


def block(text: str, name: str) -> str:
    """The fenced block under the line that names it."""
    found = re.search(rf"^<!-- example: {name} -->\n```\w*\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    assert found, f"docs/protocol.md has no example {name}"
    return found[1]


def from_hex(text: str) -> bytes:
    """Hex bytes at the beginning of each line; what follows two blanks explains them."""
    return bytes.fromhex("".join(re.split(r" {2,}", line)[0] for line in text.splitlines()))


def assert_same(one: np.ndarray, other: np.ndarray) -> None:
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


def test_a_truth_with_a_nan_is_refused() -> None:
    layout = make_layout(2, [(1, 1, 1)], 1, truth=2)
    ones = np.ones((2, 1, 1), np.float32)
    nobody = np.zeros(0, np.int32)
    role = RoleStep(
        ones, ones, np.zeros((2, 1), np.uint8), nobody, ones[:0, 0], ones[:0, 0], ones[:0, 0, 0], ones[:0, 0]
    )
    truth = np.array([[1.0, 2.0], [3.0, np.nan]], np.float32)
    data = layout.pack_step(StepFrame(1, 0, np.zeros((0, 4), np.int32), (role,), truth))
    with pytest.raises(WireError, match="the privileged state of world 1"):
        layout.unpack_step(data, 1)
