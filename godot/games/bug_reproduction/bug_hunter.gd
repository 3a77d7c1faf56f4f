class_name BugHunter
extends DojoAgent
## Moves, turns and teleports until a named failure happens; then saves how it came about.
##
## | observation | | action | |
## |---|---|---|---|
## | sine and cosine of the heading | 2 | move | x and z, up to 20 m/s |
## | angular velocity / 4 rad/s | 1 | turn | left or right, 6 rad/s² at most |
## | velocity / 20 m/s | 2 | teleport | above 0.5 it jumps, up to 200 m ahead |
## | place within the chunk, x and z | 2 | | |
## | chunks to be made / 32 | 1 | | |
## | whether it can teleport | 1 | | |
##
## A failure is worth 100 and ends the episode; each decision that turns faster than 2 rad/s 1.

signal reproduced(report: BugReport, path: String)

const MAX_SPEED_MPS := 20.0
const TURN_RADPS2 := 6.0
## Of the angular velocity, lost in a second.
const TURN_DAMPING := 1.7
const SHAPING_SPIN_RADPS := 2.0
const MAX_TELEPORT_M := 200.0
const TELEPORT_PAUSE_TICKS := 90
const _START_M := 40.0

@export var terrain: VoxelTerrain
## What to look for; see [BugTarget].
@export var target_bug: String = "chunk generation race condition"
## Whether the terrain has its planted bug; without, there is nothing to be found.
@export var race_condition: bool = true
## Where reports go.
@export_global_dir var report_folder: String = "user://bugs"
## A report whose steps are played in place of actions; empty: none.
@export_global_file("*.json") var replay: String = ""
## Whether it spins, runs and teleports by itself when nobody else plays: for pictures.
@export var autopilot: bool = false

var spin_radps: float = 0.0
var velocity := Vector3.ZERO

var _target: BugTarget
var _replayed: BugReport
var _report := BugReport.new()
var _turn: float = 0.0
var _teleport_m: float = 0.0
var _ticks: int = 0
var _teleported_at: int = 0
var _is_shaped: bool = false

@onready var rig: Node3D = get_parent()


func _ready() -> void:
	terrain.ticked.connect(_look_for_bug)


func observe() -> PackedFloat32Array:
	var inside: Vector3 = rig.position / VoxelGenerator.SIDE
	return [
		sin(rig.rotation.y),
		cos(rig.rotation.y),
		spin_radps / 4.0,
		velocity.x / MAX_SPEED_MPS,
		velocity.z / MAX_SPEED_MPS,
		2.0 * (inside.x - floorf(inside.x)) - 1.0,
		2.0 * (inside.z - floorf(inside.z)) - 1.0,
		terrain.queue_length() / 32.0,
		1.0 if _can_teleport() else 0.0,
	]


func action_parts() -> Array[Dictionary]:
	return [
		DojoObservationLayout.move("move", 2),
		DojoObservationLayout.move("turn", 1),
		DojoObservationLayout.move("teleport", 1),
	]


func apply_action(action: PackedFloat32Array) -> void:
	if _replayed == null:
		_take_step(action)


func _take_step(action: PackedFloat32Array) -> void:
	_report.note_step(_ticks, action)
	velocity = Vector3(action[0], 0.0, action[1]).limit_length() * MAX_SPEED_MPS
	_turn = action[2]
	_teleport_m = MAX_TELEPORT_M * maxf(2.0 * action[3] - 1.0, 0.0)
	_is_shaped = false


func human_action() -> PackedFloat32Array:
	if autopilot:
		return [1.0, 0.3, 1.0, 1.0]
	var keys: Vector2 = Input.get_vector(&"tag_left", &"tag_right", &"tag_forward", &"tag_back")
	var turn: float = Input.get_axis(&"ui_right", &"ui_left")
	return [keys.x, keys.y, turn, 1.0 if Input.is_action_pressed(&"tag_jump") else 0.0]


func measures() -> Dictionary:
	return {"success": current.has_won}


func reset() -> void:
	_take_options()
	_report = BugReport.new()
	_report.position = Vector3(
		chance.randf_range(-_START_M, _START_M), 0.0, chance.randf_range(-_START_M, _START_M)
	)
	_report.yaw = chance.randf_range(-PI, PI)
	if _replayed != null:
		_report.position = _replayed.position
		_report.yaw = _replayed.yaw
	rig.position = _report.position
	rig.rotation = Vector3(0.0, _report.yaw, 0.0)
	velocity = Vector3.ZERO
	spin_radps = 0.0
	_turn = 0.0
	_teleport_m = 0.0
	_ticks = 0
	_teleported_at = -TELEPORT_PAUSE_TICKS
	terrain.restart()
	rig.position.y = _surface_m()
	rig.reset_physics_interpolation()


## Options may change between episodes.
func _take_options() -> void:
	terrain.forgets_parked_jobs = race_condition
	if _replayed == null and not replay.is_empty():
		_replayed = BugReport.read(replay)
		replay = replay if _replayed != null else ""
	if _replayed != null:
		target_bug = _replayed.target_bug
		terrain.terrain_seed = _replayed.terrain_seed
	if _target == null or _target.text != target_bug:
		_target = BugTarget.new(target_bug)
		if not _target.trouble.is_empty():
			printerr(_target.trouble)


func _physics_process(delta: float) -> void:
	_replay_steps()
	_ticks += 1
	spin_radps += (_turn * TURN_RADPS2 - spin_radps * TURN_DAMPING) * delta
	rig.rotation.y = wrapf(rig.rotation.y + spin_radps * delta, -PI, PI)
	rig.position += velocity * delta
	if _teleport_m > 0.0 and _can_teleport():
		_teleported_at = _ticks
		rig.position += velocity.normalized() * _teleport_m
		rig.reset_physics_interpolation()
	rig.position.y = _surface_m()
	terrain.look_from(rig.position, velocity, -rig.basis.z, spin_radps)
	if absf(spin_radps) > SHAPING_SPIN_RADPS and not _is_shaped:
		_is_shaped = true
		add_reward(1.0, "spin")


func _replay_steps() -> void:
	if _replayed == null:
		return
	while _report.steps.size() < _replayed.steps.size():
		var step: PackedFloat32Array = _replayed.steps[_report.steps.size()]
		if step[0] > _ticks:
			return
		_take_step(step.slice(1))


## Voxels of this small terrain are all of the coarsest level.
func _surface_m() -> float:
	var voxel_m: float = 1 << terrain.lod_radii.size()
	return ceilf(terrain.ground_m(rig.position) / voxel_m) * voxel_m


func _can_teleport() -> bool:
	return _ticks - _teleported_at >= TELEPORT_PAUSE_TICKS


func _look_for_bug() -> void:
	if _target == null:
		return
	var symptom: String = _target.symptom(terrain)
	if symptom.is_empty() or is_over():
		return
	add_reward(100.0, "reproduced")
	_report.target_bug = target_bug
	_report.symptom = symptom
	_report.terrain_seed = terrain.terrain_seed
	_report.ticks = _ticks
	_report.state = {
		"position": [rig.position.x, rig.position.y, rig.position.z],
		"yaw": rig.rotation.y,
		"spin_radps": spin_radps,
		"velocity": [velocity.x, velocity.y, velocity.z],
		"terrain": terrain.state(),
	}
	var path: String = "" if _replayed != null else _report.save(report_folder)
	end_episode(true)
	reproduced.emit(_report, path)
	BugTarget.forget()
