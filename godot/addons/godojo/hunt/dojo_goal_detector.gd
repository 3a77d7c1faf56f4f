class_name DojoGoalDetector
extends RefCounted
## Finds goals that nobody can reach, since they are beside the level.
##
## A goal is a visible area or a node with a script, in 2D or 3D; it stays where it is, and its name
## says what it is.

## Words of names, in any case.
const WORDS: PackedStringArray = [
	"goal",
	"gem",
	"coin",
	"finish",
	"exit",
	"flag",
	"key",
	"pickup",
	"collectible",
	"checkpoint",
	"treasure",
	"star",
	"portal",
	"chest",
	"crystal",
	"diamond",
	"powerup",
	"heart",
	"orb",
	"apple",
	"fruit",
	"egg",
]
## Decisions that a goal must have stayed for.
const PATIENCE := 15
const _MOST := 64
## How far beside the level is still within reach, in 3D and 2D.
const _REACH_M := 1.0
const _REACH_PX := 96.0

var _bounds: DojoLevelBounds
var _goals: Array[Node] = []
# By goal: where it is, since how many decisions, and whether it was reported there.
var _stays: Dictionary[Node, Array] = {}
var _words := RegEx.create_from_string("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


func _init(bounds: DojoLevelBounds) -> void:
	_bounds = bounds


func begin() -> void:
	_goals.clear()
	_stays.clear()


func add(node: Node) -> void:
	if (node is Node3D or node is Node2D) and _goals.size() < _MOST and _is_goal(node):
		_goals.append(node)


func remove(node: Node) -> void:
	if _goals.has(node):
		_goals.erase(node)
		_stays.erase(node)


## Goals out of reach of the [param followed] bodies, each once while it stays.
func look(followed: Array[Node]) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if not _bounds.is_known or _bounds.is_endless or followed.is_empty():
		return found
	for goal in _goals:
		if not is_instance_valid(goal) or not goal.is_inside_tree() or not _is_shown(goal):
			continue
		var place: Vector3 = DojoProbeState.place_of(goal)
		var reach: float = _REACH_M if goal is Node3D else _REACH_PX
		var stay: Array = _stays.get(goal, [place, 0, false])
		if (stay[0] as Vector3).distance_to(place) > reach / 4.0:
			stay = [place, 0, false]
		stay[1] += 1
		_stays[goal] = stay
		if stay[1] >= PATIENCE and not stay[2] and _is_beside(goal, place, reach):
			stay[2] = true
			found.append(DojoProbeState.event("unreachable", "it is beside the level", goal))
	return found


func _is_goal(node: Node) -> bool:
	if node is CollisionShape3D or node is CollisionShape2D or node is Camera3D or node is Camera2D:
		return false
	if node is Marker3D or node is Marker2D or node is PhysicsBody3D or node is PhysicsBody2D:
		return false
	for word in _words.search_all(str(node.name)):
		if WORDS.has(word.get_string().to_lower()):
			return node.get_parent() == null or not _goals.has(node.get_parent())
	return false


static func _is_shown(goal: Node) -> bool:
	if not goal.call(&"is_visible_in_tree"):
		return false
	if not goal is Area3D and not goal is Area2D and goal.get_script() == null:
		return false
	if goal is Node2D and (goal as Node2D).get_canvas_layer_node() != null:
		return false
	return goal.get("monitoring") != false


## Beside the level or below it, and not so far that it may be put away there.
func _is_beside(goal: Node, place: Vector3, reach: float) -> bool:
	var up: float = 1.0 if goal is Node3D else -1.0
	var away: Vector3 = place - _bounds.box.get_center()
	var half: Vector3 = _bounds.box.size / 2.0
	var out: Vector3 = away.abs() - half
	if goal is Node2D:
		out.z = 0.0
	elif out.y > 0.0 and away.y * up > 0.0:
		out.y = 0.0
	if goal is Node2D and away.y * up > 0.0:
		out.y = minf(out.y, 0.0)
	var farthest: float = maxf(out.x, maxf(out.y, out.z))
	return farthest > reach and farthest < 2.0 * maxf(half.x, maxf(half.y, half.z))
