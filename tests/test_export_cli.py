"""`godojo export` and `godojo distil`: files that are true, pages that fit them, and one line for every mistake."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from godojo.cli.train import train
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.players import policies_of
from godojo.export.card import write_card
from godojo.export.distil import Distillation, DistilSettings, imitation_loss, rotated_like, student_of
from godojo.export.distilled_run import DistilledRun
from godojo.export.dojo_file import check_dojo, dojo_bytes, load_dojo, read_dojo
from godojo.export.ship import export, gdscript_us, parse_levels, trained_in, weight_count
from godojo.export.vectors import answered, make_vectors
from godojo.games.parts import ActionPart
from godojo.learn.budget import Budget
from godojo.learn.networks import PolicyShape
from godojo.learn.policy_file import PolicyCard, policy_bytes
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from tests.conftest import Run
from tests.judged_runs import make_run, small_policy
from tests.policies import HEADING, KINDS, trained


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of runs, with one called `small`."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    make_run(tmp_path / "runs")
    return tmp_path


def test_a_file_for_each_role_in_the_runs_folder(root: Path, godojo: Run) -> None:
    done = godojo("export", "small")
    assert done.returncode == 0, done.stderr
    folder = root / "runs/small/export"
    assert sorted(path.name for path in folder.iterdir()) == ["hider.dojo", "seeker.dojo"]
    for role, (policy, card) in policies_of("small").items():
        shipped, told = load_dojo(folder / f"{role}.dojo")
        assert told == msgspec.json.decode(msgspec.json.encode(card), type=PolicyCard)
        vectors = make_vectors(policy, card, 10, streams=20)
        found = answered(shipped, vectors.observation, vectors.fresh)
        np.testing.assert_allclose(found.action, vectors.action, atol=1e-5)


def test_levels_are_moments_of_the_training(root: Path) -> None:
    policies = trained_in("small", None, parse_levels("easy=start, hard=final"))
    written = export(policies, root / "policies")
    assert sorted(Path(one.path).name for one in written) == [
        "easy_hider.dojo",
        "easy_seeker.dojo",
        "hard_hider.dojo",
        "hard_seeker.dojo",
    ]
    for level, ahead in (("easy", 0.0), ("hard", 1.0)):  # who began did nothing, and in the end runs ahead
        *_, bias, _log_std = read_dojo(root / f"policies/{level}_seeker.dojo").weights
        assert bias.tolist() == [0.0, ahead, -1.0]
    assert [Path(one.path).name for one in export(trained_in("small@start", "hider"), root)] == ["start_hider.dojo"]


def test_one_file_can_be_exported_again(root: Path) -> None:
    (first,) = export(trained_in("small", "seeker"), root)
    (again,) = export(trained_in(first.path), root / "again")
    assert read_dojo(Path(again.path)).header == read_dojo(Path(first.path)).header
    (model,) = export(trained_in(first.path), root, "onnx")
    assert model.differs is not None
    assert model.differs <= 1e-5


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("none",), "no run 'none'"),
        (("small@never",), "no snapshot 'never'"),
        (("small", "--role", "judge"), "has no role 'judge'"),
        (("small", "--format", "pickle"), "no format 'pickle'"),
        (("small", "--int8"), "add format=.onnx."),
        (("small", "--levels", "easy"), "is no list"),
        (("small", "--levels", "a=start,a=final"), "is no list"),
        (("small", "--levels", "../x=start"), "no name for a level"),
        (("small@final", "--levels", "a=start"), "name the run alone"),
        (("missing.pt",), "no such policy file"),
        (("missing.dojo",), "no such policy file"),
    ],
)
def test_mistakes_are_refused(words: tuple[str, ...], reason: str, root: Path) -> None:
    """Without starting a program each time: what the verb does, with the same words."""
    from godojo.cli.export import export as verb

    options = dict(zip([word.lstrip("-") for word in words[1::2]], words[2::2], strict=False))
    with pytest.raises(GodojoError, match=reason):
        verb(
            words[0],
            role=options.get("role"),
            kind=options.get("format", "godot"),
            out=root / "out",
            levels=options.get("levels"),
            int8="--int8" in words,
        )
    assert not (root / "out").exists()


def test_a_folder_that_cannot_be_made_ends_in_one_line(root: Path) -> None:
    (root / "file").write_text("", encoding="utf-8")
    with pytest.raises(GodojoError, match="cannot be created"):
        export(trained_in("small"), root / "file/below")


def test_the_card_says_what_the_files_are(root: Path) -> None:
    policies = trained_in("small")
    written = export(policies, root / "out")
    page = write_card("small", policies, written, root / "out", rounds=20)
    text = page.read_text("utf-8")
    for one in written:
        assert Path(one.path).name in text
        assert one.sha256[:16] in text
    for part in policies[0].card.observation_parts:
        assert f"| {part.name} |" in text
    assert text.count(" to ") > 8, "results have intervals"
    assert str(root) not in text, "nothing about the machine it was made on"
    assert (root / "out/card.png").read_bytes().startswith(b"\x89PNG")


def test_a_card_says_how_much_of_a_memory_turns(root: Path) -> None:
    run = RunFolder.create(RunConfig("tag", "sim", ("seeker",), "ppo", {}, {}, 1, {"minutes": 1.0}), "turning")
    run.save_policy("seeker", policy_bytes(*small_policy("seeker", memory="leaky", remembered=((3, 0),))))
    policies = trained_in("turning")
    (one,) = written = export(policies, root / "out")
    assert read_dojo(Path(one.path)).header.heading == policies[0].card.shape.heading
    text = write_card("turning", policies, written, root / "out", rounds=2).read_text("utf-8")
    assert "4 leaky cells of memory (2 of them turn with the agent)" in text


def test_the_price_of_a_decision_counts_blocks_of_four() -> None:
    shape = PolicyShape(5, (ActionPart("move", "continuous", 3),), (8, 4))
    assert weight_count(shape) == 5 * 8 + 8 + 8 * 4 + 4 + 4 * 3 + 3
    assert gdscript_us(shape) == pytest.approx((2 * 2 + 1 * 2 + 1 * 1) * 0.022)


# Distillation.


@pytest.mark.parametrize("kind", KINDS)
def test_a_student_that_does_the_same_has_nothing_to_learn(kind: str) -> None:
    teacher, _ = trained(**KINDS[kind])
    student = student_of(teacher, DistilSettings(net_arch=(8, 8), memory=teacher.shape.memory, memory_size=3))
    assert torch.equal(student.normaliser.mean, teacher.normaliser.mean)
    wanted = torch.randn(4, 6, teacher.head.linear.out_features)
    counts = torch.ones(4, 6)
    assert float(imitation_loss(teacher, wanted.clone(), wanted, counts)) == pytest.approx(0.0, abs=1e-6)
    other = wanted + torch.randn_like(wanted)
    assert float(imitation_loss(teacher, other, wanted, counts)) > 0.01
    counts[1:] = 0.0
    alone = imitation_loss(teacher, other[:1], wanted[:1], counts[:1])
    torch.testing.assert_close(imitation_loss(teacher, other, wanted, counts), alone)


def test_the_same_share_of_a_students_memory_turns_as_of_its_teachers() -> None:
    turning = msgspec.structs.replace(HEADING, remembered=tuple((place, place + 1) for place in range(16, 32, 2)))
    teacher = msgspec.structs.replace(trained()[1].shape, memory_size=32, heading=turning)

    def pairs(memory: str, size: int) -> tuple[tuple[int, int], ...]:
        found = rotated_like(teacher, memory, size)
        assert found is not None
        assert msgspec.structs.replace(found, remembered=()) == HEADING
        return found.remembered

    assert pairs("leaky", 32) == turning.remembered
    assert pairs("leaky", 8) == ((4, 5), (6, 7))
    assert pairs("leaky", 7) == ((3, 4), (5, 6))
    assert pairs("leaky", 1) == pairs("gru", 32) == pairs("", 0) == ()
    everything = msgspec.structs.replace(HEADING, remembered=((0, 1), (2, 3)))
    teacher = msgspec.structs.replace(teacher, memory_size=4, heading=everything)
    assert pairs("leaky", 3) == ((1, 2),)
    assert rotated_like(msgspec.structs.replace(teacher, heading=None), "leaky", 3) is None


@pytest.mark.parametrize(("memory", "remembered"), [("", ()), ("leaky", ()), ("leaky", ((0, 3), (1, 2)))])
def test_a_student_comes_near_its_teacher_where_the_student_plays(
    memory: str, remembered: tuple[tuple[int, int], ...]
) -> None:
    teachers = {role: small_policy(role, memory=memory, remembered=remembered) for role in ("seeker", "hider")}
    torch.manual_seed(0)
    for policy, _ in teachers.values():
        policy.head.linear.weight.normal_(0.0, 0.5)
    settings = {
        role: DistilSettings(
            net_arch=(12,),
            memory=policy.shape.memory,
            memory_size=policy.shape.memory_size,
            num_worlds=32,
            n_steps=16,
        )
        for role, (policy, _) in teachers.items()
    }
    worlds = make_vec("tag", num_worlds=32, seed=1, generated_share=1.0)
    distillation = Distillation(worlds, teachers, settings)
    figures: list[dict[str, float]] = []
    assert distillation.teach(Budget(agent_steps=64 * 16 * 40), lambda _, found: figures.append(found))
    distillation.close()
    for student, card in distillation.students().values():
        assert len(student.rotated_cells) == len(remembered)
        check_dojo(dojo_bytes(student, card))
    assert figures[0]["teacher_share"] == 1.0
    assert figures[-1]["teacher_share"] == 0.0
    for role in teachers:
        assert (
            np.mean([one[f"{role}/train/action_distance"] for one in figures[-4:]])
            < 0.75 * figures[0][f"{role}/train/action_distance"]
        )


@pytest.mark.usefixtures("root")
def test_the_same_seed_teaches_the_same() -> None:
    found = []
    for name in ("one", "two"):
        distilled = DistilledRun("small", (8,), Budget(agent_steps=20_000), run_id=name, seed=4)
        assert distilled.teach(lambda _what, _share: None)
        found.append([policy.state_dict() for policy, _ in policies_of(name).values()])
    for one, two in zip(*found, strict=True):
        assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.usefixtures("root")
def test_what_has_been_learnt_is_kept_when_it_is_stopped() -> None:
    distilled = DistilledRun("small", (8,), Budget(minutes=60.0), run_id="short")
    before = {
        role: policy.head.linear.weight.clone() for role, (policy, _) in distilled.distillation.students().items()
    }
    assert not distilled.teach(lambda _what, _share: distilled.distillation.stop())
    for role, (policy, card) in policies_of("short").items():
        assert not torch.equal(policy.head.linear.weight, before[role])
        assert card.agent_steps == 2 * 256 * 32
    with pytest.raises(GodojoError, match="no snapshot"):
        policies_of("short@final")


def test_a_students_run_is_one_like_any_other(root: Path, godojo: Run) -> None:
    done = godojo("distil", "small", "--net", "6,5", "--steps", "20000", "--run-id", "tiny", "-n", "10", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    teacher, student = report["sizes"]["seeker"]
    assert student["net_arch"] == [6, 5]
    assert student["weights"] < teacher["weights"]
    assert {price["opponent"] for price in report["prices"]} == {"random", "wander", "sighted", "oracle"}
    assert policies_of("tiny@final").keys() == {"seeker", "hider"}
    assert json.loads((root / "runs/tiny/distil.json").read_text()) == report
    assert export(trained_in("tiny"), root / "out")
    further = godojo("train", "--init-from", "tiny", "--steps", "1000", "--set", "num_worlds=8", "--judge", "0")
    assert further.returncode == 0, further.stderr
    with pytest.raises(GodojoError, match=r"start a run with .*tiny"):
        train("tag", resume="tiny")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--net", "many"), "no list of widths"),
        (("--net", "0"), "a net is"),
        (("--net", "5000"), "a net is"),
        (("--memory-size", "4"), "has no memory"),
        (("--minutes", "1", "--steps", "5"), "not both"),
        (("--minutes", "0"), "above 0"),
        (("--run-id", "small"), "exists"),
    ],
)
def test_distillations_that_cannot_be_are_refused(words: tuple[str, ...], reason: str, root: Path) -> None:
    from godojo.cli.distil import distil

    options = dict(zip([word.lstrip("-").replace("-", "_") for word in words[::2]], words[1::2], strict=True))
    numbers = {"memory_size": int, "minutes": float, "steps": int}
    given = {name: numbers.get(name, str)(value) for name, value in options.items()}
    with pytest.raises(GodojoError, match=reason):
        distil("small", **given)
    assert [path.name for path in (root / "runs").iterdir()] == ["small"]


def test_a_single_role_cannot_be_distilled_alone(root: Path) -> None:
    path = root / "runs/small/policy_seeker.pt"
    with pytest.raises(GodojoError, match="no teacher for the hider"):
        DistilledRun(str(path), (8,), Budget(agent_steps=1000), run_id="half")
    assert not (root / "runs/half").exists()
