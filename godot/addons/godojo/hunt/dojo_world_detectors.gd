class_name DojoWorldDetectors
extends RefCounted
## Detectors of a hunted game that need the scene: bodies, invariants and buttons.
##
## An event is a Dictionary with [code]detector[/code], [code]message[/code], [code]node[/code] and
## [code]position[/code]; [code]pattern[/code] replaces the message where events are compared.

## Bodies that are looked at in a decision, besides those that are followed.
const _AT_ONCE := 32

## Menus that are not made of Controls.
var menus: DojoMenuDetector
## How far the level reaches.
var bounds := DojoLevelBounds.new()

var _state: DojoProbeState
var _settings: Dictionary = {}
var _solids: DojoSolidDetector
var _goals: DojoGoalDetector
var _ui: DojoUiDetector
var _settings_kept := DojoSettingDetector.new()
var _areas: DojoAreaDetector
var _values: DojoValueDetector
var _signals := DojoSignalDetector.new()
var _pause: DojoPauseDetector
var _respawn := DojoRespawnDetector.new()
var _jumps := DojoJumpDetector.new()
var _followed: Array[Node] = []
var _invariants: Array[DojoInvariant] = []
var _broken: Dictionary[int, bool] = {}
var _next: int = 0
var _decisions: int = 0
# By body: the decision in which it left, and whether it has been in the level.
var _outside: Dictionary[Node, int] = {}
var _has_been_in: Dictionary[Node, bool] = {}


## [param settings]: JSON with what Python's [code]DetectorSettings[/code] have.
func _init(state: DojoProbeState, settings: String) -> void:
	_state = state
	var parsed: Variant = JSON.parse_string(settings) if not settings.is_empty() else null
	if parsed is Dictionary:
		_settings = parsed
	_ui = DojoUiDetector.new(state)
	menus = DojoMenuDetector.new(state.tree)
	_solids = DojoSolidDetector.new(state)
	_goals = DojoGoalDetector.new(bounds)
	_areas = DojoAreaDetector.new(state)
	_values = DojoValueDetector.new(state)
	_pause = DojoPauseDetector.new(state)


## The scene begins anew.
func begin() -> void:
	bounds.clear()
	_ui.begin()
	_settings_kept.begin()
	menus.begin()
	_solids.begin()
	_goals.begin()
	_areas.begin()
	_values.begin()
	_signals.begin()
	_pause.begin()
	_respawn.begin()
	_jumps.begin()
	_followed = []
	_broken.clear()
	_outside.clear()
	_has_been_in.clear()


func add(node: Node) -> void:
	bounds.add(node)
	_ui.add(node)
	_settings_kept.add(node)
	_solids.add(node)
	_goals.add(node)
	_areas.add(node)
	_signals.add(node)
	if node is DojoInvariant:
		_invariants.append(node)


func remove(node: Node) -> void:
	_outside.erase(node)
	_has_been_in.erase(node)
	_ui.remove(node)
	_settings_kept.remove(node)
	_solids.remove(node)
	_goals.remove(node)
	_areas.remove(node)
	_values.remove(node)
	_signals.remove(node)
	if node is DojoInvariant:
		_invariants.erase(node)


## What is looked at in every physics tick.
func look_at_tick() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if _wants("invariants"):
		for invariant in _invariants:
			_check_invariant(invariant, found)
	return found


## What is looked at in every physics tick of a game that runs.
func look_at_bodies() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if _wants("inside_solid"):
		found = _solids.look_at_tick(_followed)
	if _wants("dead_area"):
		found.append_array(_areas.look_at_tick(_followed))
	if _followed.is_empty() or not is_instance_valid(_followed[0]):
		return found
	if _state.has_player(_followed) and _followed[0].is_inside_tree():
		if _wants("respawn"):
			found.append_array(_respawn.look(_followed[0]))
		if _wants("out_of_world"):
			found.append_array(_jumps.look(_followed[0], bounds))
	return found


## What is looked at when variables were read.
func look_at_values(names: PackedStringArray, numbers: PackedFloat32Array) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if _wants("economy"):
		found = _values.look(names, numbers)
	if _wants("text"):
		found.append_array(_values.look_at_texts())
	return found


## What is looked at once a decision; [param shown] elements can be used.
func look_at_decision(followed: Array[Node], shown: Array[Node]) -> Array[Dictionary]:
	var found: Array[Dictionary] = look_at_tick()
	bounds.update()
	_decisions += 1
	for body in followed + _others(followed):
		var place: Vector3 = DojoProbeState.place_of(body)
		if not place.is_finite() or not DojoProbeState.velocity_of(body).is_finite():
			if _wants("nan"):
				found.append(
					DojoProbeState.event("nan", "the position or velocity is not a number", body)
				)
		elif _wants("out_of_world"):
			_check_outside(body, place, found)
	_followed = followed
	if _wants("inside_solid"):
		var patience: int = _settings.get("inside_solid_decisions", 3)
		found.append_array(_solids.look_at_decision(followed, patience))
	if _wants("dropped_signal"):
		found.append_array(_signals.look())
	if _wants("unreachable"):
		found.append_array(_goals.look(followed))
	if _wants("dead_ui"):
		found.append_array(_ui.look())
		found.append_array(_settings_kept.look())
		found.append_array(menus.look())
	if _wants("pause"):
		found.append_array(_pause.look(shown))
	return found


## Settings that were changed, for the next process.
func settings_left() -> Dictionary[String, Array]:
	return _settings_kept.finals()


func looks_for_leaks() -> bool:
	return int(_settings.get("node_budget", 1)) > 0


func _wants(detector: String) -> bool:
	return _settings.get(detector, true)


func _others(followed: Array[Node]) -> Array[Node]:
	var found: Array[Node] = []
	var count: int = _state.bodies.size()
	for offset in mini(_AT_ONCE, count):
		var body: Node = _state.bodies[(_next + offset) % count]
		if is_instance_valid(body) and not followed.has(body):
			found.append(body)
	_next = (_next + _AT_ONCE) % maxi(count, 1)
	return found


func _check_invariant(invariant: DojoInvariant, found: Array[Dictionary]) -> void:
	var id: int = invariant.get_instance_id()
	if invariant.holds():
		if not invariant.problem().is_empty() and not _broken.has(id):
			_broken[id] = true
			var why: String = "its expression cannot be evaluated: %s" % invariant.problem()
			found.append(DojoProbeState.event("invariant", why, invariant))
		elif invariant.problem().is_empty():
			_broken.erase(id)
	elif not _broken.has(id):
		_broken[id] = true
		found.append(DojoProbeState.event("invariant", invariant.title(), invariant))


## Beyond the level for long, and further than a jump over its edge. What flies over the edge is no
## matter, and neither is what has never been in the level.
func _check_outside(body: Node, place: Vector3, found: Array[Dictionary]) -> void:
	if not bounds.is_known or bounds.is_endless:
		return
	var share: float = _settings.get("out_of_world_margin", 0.5)
	var least: float = 5.0 if body is Node3D else 300.0
	# In 2D, up is where y is less.
	var up: float = 1.0 if body is Node3D else -1.0
	var middle: Vector3 = bounds.box.get_center()
	var half: Vector3 = bounds.box.size / 2.0
	var away: Vector3 = place - middle
	var height: float = away.y * up - half.y
	var sideways: Vector2 = Vector2(absf(away.x) - half.x, absf(away.z) - half.z)
	var margin: Vector3 = (bounds.box.size * share).max(Vector3.ONE * least)
	if height > least:
		_has_been_in.erase(body)
		_outside.erase(body)
	elif sideways.x <= 0.0 and sideways.y <= 0.0 and away.y * up >= -half.y:
		_has_been_in[body] = true
		_outside.erase(body)
	elif _has_been_in.has(body):
		var is_below: bool = away.y * up < -half.y - margin.y
		if is_below or sideways.x > margin.x or sideways.y > margin.z:
			if not _outside.has(body):
				_outside[body] = _decisions
			if _decisions - _outside[body] >= int(_settings.get("out_of_world_decisions", 30)):
				_has_been_in.erase(body)
				found.append(
					DojoProbeState.event(
						"out_of_world", "it left the level and did not return", body
					)
				)
