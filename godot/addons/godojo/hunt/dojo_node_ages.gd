class_name DojoNodeAges
extends RefCounted
## Counts nodes that came after a scene's start and have stayed, as those do that nobody frees.

## Physics ticks after which a node is old; those of the first [constant WARM_UP] do not count.
const OLD := 300
const WARM_UP := 60
## Old nodes of one kind that came in so many different seconds leak if none has ever been freed.
const MOST_OF_KIND := 40
const SECONDS := 12
## Nodes of one kind that are over: another one comes although these are neither used nor freed.
const MOST_OVER := 8
const SECONDS_OVER := 5
const _COHORT := 60
const _MOST_KINDS := 256

var _started: int = 0
# By a node's id, the cohort in which it came and its kind; by cohort, how many are left.
var _born: Dictionary[int, Array] = {}
var _left: Dictionary[int, int] = {}
# By kind, how many came in each cohort; those of which one was freed are empty.
var _kinds: Dictionary[String, Dictionary] = {}
# By kind, the ids of its nodes; and kinds whose nodes are over and stay.
var _alike: Dictionary[String, PackedInt64Array] = {}
var _stale: PackedStringArray = []


## A scene begins.
func begin() -> void:
	_started = Engine.get_physics_frames()
	_born.clear()
	_left.clear()
	_kinds.clear()
	_alike.clear()
	_stale.clear()


func add(node: Node) -> void:
	var tick: int = Engine.get_physics_frames() - _started
	if tick < WARM_UP:
		return
	var cohort: int = tick / _COHORT
	var kind: String = _kind_of(node)
	_born[node.get_instance_id()] = [cohort, kind]
	_left[cohort] = _left.get(cohort, 0) + 1
	if not kind.is_empty() and not _kinds.has(kind) and _kinds.size() < _MOST_KINDS:
		_kinds[kind] = {"is_freed": false}
	if _kinds.has(kind) and not _kinds[kind]["is_freed"]:
		_kinds[kind][cohort] = _kinds[kind].get(cohort, 0) + 1
		_look_at(kind, cohort)
		var ids: PackedInt64Array = _alike.get(kind, PackedInt64Array())
		ids.append(node.get_instance_id())
		_alike[kind] = ids


func remove(node: Node) -> void:
	var id: int = node.get_instance_id()
	if not _born.has(id):
		var kind_of_first: String = _kind_of(node)
		if not kind_of_first.is_empty():
			_kinds[kind_of_first] = {"is_freed": true}
		return
	_left[_born[id][0]] -= 1
	var kind: String = _born[id][1]
	if _kinds.has(kind):
		_kinds[kind] = {"is_freed": true}
	_born.erase(id)


func old_nodes() -> int:
	var newest: int = _newest()
	var count: int = 0
	for cohort in _left:
		if cohort < newest:
			count += _left[cohort]
	return count


## Kinds of nodes of which many have come and none has gone.
func leaks() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	var newest: int = _newest()
	for kind in _kinds:
		var count: int = 0
		var seconds: int = 0
		for cohort: Variant in _kinds[kind]:
			if cohort is int and (cohort as int) < newest:
				count += _kinds[kind][cohort]
				seconds += 1
		if _stale.has(kind) or (count >= MOST_OF_KIND and seconds >= SECONDS):
			_kinds[kind] = {"is_freed": true}
			var message: String = "nodes of the kind %s come and are never freed" % kind
			found.append({"detector": "node_leak", "message": message, "pattern": message})
	return found


## Another one of a kind is about to come. Who keeps nodes to use them again makes no new one while
## old ones are idle.
func _look_at(kind: String, cohort: int) -> void:
	var ids: PackedInt64Array = _alike.get(kind, PackedInt64Array())
	if ids.size() < MOST_OVER or _kinds[kind].size() <= SECONDS_OVER:
		return
	var count: int = 0
	for id in ids:
		var node: Object = instance_from_id(id)
		if node is Node and (_born[id][0] as int) < cohort - 1 and _is_over(node as Node):
			count += 1
	if count >= MOST_OVER and not _stale.has(kind):
		_stale.append(kind)


## Whether it has done what it came for: it is invisible, silent or stopped.
static func _is_over(node: Node) -> bool:
	if node is CanvasItem:
		var item: CanvasItem = node
		return not item.visible or item.modulate.a * item.self_modulate.a < 0.01
	if node is AudioStreamPlayer or node is AudioStreamPlayer2D or node is AudioStreamPlayer3D:
		return not node.get("playing")
	if node is Timer:
		return (node as Timer).is_stopped()
	return node is Node3D and not (node as Node3D).visible


func _newest() -> int:
	return (Engine.get_physics_frames() - _started - OLD) / _COHORT


## The script or the class, and where; empty for what comes with its parent.
func _kind_of(node: Node) -> String:
	var parent: Node = node.get_parent()
	if parent == null or parent is Window or _born.has(parent.get_instance_id()):
		return ""
	var script: Script = node.get_script()
	var is_named: bool = script != null and not script.resource_path.is_empty()
	return "%s in %s" % [script.resource_path if is_named else node.get_class(), parent.name]
