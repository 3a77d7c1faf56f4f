# Every check that fails leaves its function at once.
# gdlint: disable=max-returns
class_name DojoHttpRoutes
extends RefCounted
## What can be asked for over HTTP, checked field by field. It knows nothing of lines and tokens.

## Paths that need no token.
const OPEN: PackedStringArray = ["/health", "/openapi.json"]
## Most a seed can be: the engine reads numbers of JSON as 64-bit floats.
const MAX_SEED := 9007199254740991
## Most a number of an action can be, either way.
const MAX_NUMBER := 1.0e6
const _SCENE_FRAMES := 600

## The game that is played; null until the first request for it.
var game: DojoHttpGame
## Names of scenes that may be loaded, each with its path.
var scenes: Dictionary[String, String] = {}
## How the server itself is doing, for [code]/performance/metrics[/code].
var counts: Dictionary[String, int] = {"requests": 0, "refused": 0, "longest_serving_us": 0}

var _tree: SceneTree
var _began_ms: int = Time.get_ticks_msec()
var _reloads: int = 0
var _table: Dictionary[String, Dictionary] = {
	"/health": {"GET": _health},
	"/openapi.json": {"GET": _openapi},
	"/status": {"GET": _status},
	"/performance/metrics": {"GET": _metrics},
	"/rl/observation": {"GET": _observation},
	"/rl/state": {"GET": _state},
	"/scene": {"POST": _scene},
	"/scene/reload": {"POST": _reload},
	"/rl/action": {"POST": _action},
	"/rl/reset": {"POST": _reset},
}


func _init(tree: SceneTree, allowed: Dictionary[String, String]) -> void:
	_tree = tree
	scenes = allowed


## Whether [param request] has to wait while another one changes the game.
func is_exclusive(request: DojoHttpRequest) -> bool:
	return request.path.begins_with("/rl") or request.path.begins_with("/scene")


## Whether it is answered without a token.
func is_open(request: DojoHttpRequest) -> bool:
	return OPEN.has(request.path)


## The reply to [param request]. May take frames.
func answer(request: DojoHttpRequest) -> DojoHttpReply:
	if not _table.has(request.path):
		return DojoHttpReply.fail(404, "there is no such path; /openapi.json lists what there is")
	var methods: Dictionary = _table[request.path]
	if not methods.has(request.method):
		var allowed: String = ", ".join(methods.keys())
		var refusal := DojoHttpReply.fail(405, "%s is asked for with %s" % [request.path, allowed])
		refusal.headers["Allow"] = allowed
		return refusal
	if request.method == "GET":
		@warning_ignore("redundant_await")
		return await (methods["GET"] as Callable).call()
	var fields: Dictionary = {}
	if not request.body.is_empty():
		var kind: String = request.headers.get("content-type", "").get_slice(";", 0)
		if kind.strip_edges().to_lower() != "application/json":
			return DojoHttpReply.fail(415, "send JSON, with Content-Type: application/json")
		if not DojoUntrustedText.is_utf8(request.body):
			return DojoHttpReply.fail(400, "the body is no UTF-8 text")
		var json: DojoSafeJson = DojoSafeJson.read(request.body.get_string_from_utf8())
		if not json.error.is_empty():
			return DojoHttpReply.fail(400, "the body is no JSON: %s" % json.error)
		if not json.data is Dictionary:
			return DojoHttpReply.fail(422, "the body must be an object")
		fields = json.data
	@warning_ignore("redundant_await")
	return await (methods["POST"] as Callable).call(fields)


func _health() -> DojoHttpReply:
	return DojoHttpReply.make({"status": "ok"})


func _openapi() -> DojoHttpReply:
	return DojoHttpReply.make(DojoHttpOpenapi.describe(scenes.keys(), game))


func _status() -> DojoHttpReply:
	var version: Dictionary = Engine.get_version_info()
	return (
		DojoHttpReply
		. make(
			{
				"game": ProjectSettings.get_setting("application/config/name", ""),
				"godot": "%d.%d.%d" % [version["major"], version["minor"], version["patch"]],
				"scene": _scene_name(),
				"scenes": scenes.keys(),
				"driven": game != null and game.is_in(_tree.current_scene) and game.is_driven(),
				"uptime_s": (Time.get_ticks_msec() - _began_ms) * 0.001,
				"requests": counts["requests"],
				"reloads": _reloads,
			}
		)
	)


func _metrics() -> DojoHttpReply:
	var shown: Dictionary = {
		"fps": Performance.TIME_FPS,
		"process_s": Performance.TIME_PROCESS,
		"physics_s": Performance.TIME_PHYSICS_PROCESS,
		"memory_bytes": Performance.MEMORY_STATIC,
		"memory_most_bytes": Performance.MEMORY_STATIC_MAX,
		"objects": Performance.OBJECT_COUNT,
		"nodes": Performance.OBJECT_NODE_COUNT,
		"resources": Performance.OBJECT_RESOURCE_COUNT,
		"draw_calls": Performance.RENDER_TOTAL_DRAW_CALLS_IN_FRAME,
		"drawn_objects": Performance.RENDER_TOTAL_OBJECTS_IN_FRAME,
		"primitives": Performance.RENDER_TOTAL_PRIMITIVES_IN_FRAME,
		"video_memory_bytes": Performance.RENDER_VIDEO_MEM_USED,
	}
	var metrics: Dictionary = {}
	for key: String in shown:
		metrics[key] = Performance.get_monitor(shown[key] as Performance.Monitor)
	metrics["physics_frames"] = Engine.get_physics_frames()
	metrics.merge(counts)
	return DojoHttpReply.make(metrics)


func _observation() -> DojoHttpReply:
	var refusal: DojoHttpReply = await _taken_over()
	if refusal != null:
		return refusal
	return DojoHttpReply.make({"observation": game.observation, "round": game.rounds})


func _state() -> DojoHttpReply:
	var refusal: DojoHttpReply = await _taken_over()
	if refusal != null:
		return refusal
	return (
		DojoHttpReply
		. make(
			{
				"round": game.rounds,
				"decisions": game.decisions,
				"terms": game.round_terms,
				"game": game.description,
			}
		)
	)


func _reset(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if not ["seed", "options", "ticks_per_decision"].has(key):
			return _unknown(key, "seed, options, ticks_per_decision")
	var number: Variant = fields.get("seed", 0)
	if not _is_whole(number, 0, MAX_SEED):
		return DojoHttpReply.fail(422, "seed must be a whole number from 0 to %d" % MAX_SEED)
	var ticks: Variant = fields.get("ticks_per_decision")
	if ticks != null and not _is_whole(ticks, 1, 60):
		return DojoHttpReply.fail(422, "ticks_per_decision must be a whole number from 1 to 60")
	var options: Variant = fields.get("options", {})
	if not options is Dictionary:
		return DojoHttpReply.fail(422, "options must be an object")
	var refusal: DojoHttpReply = _unless_playable()
	if refusal != null:
		return refusal
	if fields.has("options") or ticks != null or not game.is_driven():
		var wanted: Variant = null if ticks == null else int(ticks as float)
		var complaint: String = await game.configure(options as Dictionary, wanted)
		if not complaint.is_empty():
			return DojoHttpReply.fail(409, complaint)
	var trouble: String = game.reset(int(number as float))
	if not trouble.is_empty():
		return DojoHttpReply.fail(500, trouble)
	return DojoHttpReply.make({"observation": game.observation, "round": game.rounds})


func _action(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if not ["action", "ticks"].has(key):
			return _unknown(key, "action, ticks")
	var refusal: DojoHttpReply = await _taken_over()
	if refusal != null:
		return refusal
	if not fields.get("action") is Array:
		return DojoHttpReply.fail(422, "action must be a list of %d numbers" % game.action_size)
	var list: Array = fields["action"]
	var action := PackedFloat32Array()
	for number: Variant in list.slice(0, game.action_size):
		if not (number is float or number is int) or not absf(number as float) <= MAX_NUMBER:
			return DojoHttpReply.fail(422, "action must hold numbers up to %d" % MAX_NUMBER)
		action.append(number as float)
	if list.size() != game.action_size:
		return DojoHttpReply.fail(422, "action must have exactly %d numbers" % game.action_size)
	var ticks: Variant = fields.get("ticks", 1)
	if not _is_whole(ticks, 1, DojoHttpGame.MAX_TICKS):
		return DojoHttpReply.fail(
			422, "ticks must be a whole number from 1 to %d" % DojoHttpGame.MAX_TICKS
		)
	var step: Dictionary = await game.act(action, int(ticks as float))
	if step.has("message"):
		return DojoHttpReply.fail(500, step["message"] as String)
	return DojoHttpReply.make(step)


func _scene(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if key != "scene":
			return _unknown(key, "scene")
	var name: Variant = fields.get("scene")
	if not name is String:
		return DojoHttpReply.fail(422, "scene must be the name of a scene")
	if not scenes.has(name as String):
		return DojoHttpReply.fail(
			404, "there is no such scene; there is: %s" % ", ".join(scenes.keys())
		)
	return await _load(scenes[name as String])


func _reload(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		return _unknown(key, "nothing")
	if _tree.current_scene == null:
		return DojoHttpReply.fail(409, "there is no scene at the moment; ask again")
	_reloads += 1
	return await _load(_tree.current_scene.scene_file_path)


## Leaves the scene for another one, and waits until that is there.
func _load(path: String) -> DojoHttpReply:
	_tree.paused = false
	game = null
	var before: Node = _tree.current_scene
	if _tree.change_scene_to_file(path) != OK:
		return DojoHttpReply.fail(500, "the scene cannot be loaded")
	for _frame in _SCENE_FRAMES:
		await _tree.process_frame
		var scene: Node = _tree.current_scene
		if scene != null and scene != before and scene.is_node_ready():
			return DojoHttpReply.make({"scene": _scene_name(), "reloads": _reloads})
	return DojoHttpReply.fail(500, "the scene did not come up")


## Sees to it that there is a round to look at; null when all is well.
func _taken_over() -> DojoHttpReply:
	var refusal: DojoHttpReply = _unless_playable()
	if refusal != null or game.is_driven():
		return refusal
	return await _first_round()


func _first_round() -> DojoHttpReply:
	var complaint: String = await game.configure({}, null)
	if complaint.is_empty():
		complaint = game.reset(0)
	return null if complaint.is_empty() else DojoHttpReply.fail(409, complaint)


func _unless_playable() -> DojoHttpReply:
	var scene: Node = _tree.current_scene
	# The game may have changed its scene by itself.
	if scene != null and (game == null or not game.is_in(scene)):
		game = DojoHttpGame.new(_tree, scene)
	if scene == null or not game.can_play():
		return DojoHttpReply.fail(
			409, "this scene has nothing to play: it needs DojoAgent nodes and a DojoSync"
		)
	return null


func _scene_name() -> Variant:
	var path: String = _tree.current_scene.scene_file_path if _tree.current_scene != null else ""
	return scenes.find_key(path)


static func _unknown(key: Variant, known: String) -> DojoHttpReply:
	return DojoHttpReply.fail(
		422, "there is no field %s; there is: %s" % [DojoUntrustedText.quoted(key), known]
	)


static func _is_whole(value: Variant, least: int, most: int) -> bool:
	if not (value is float or value is int):
		return false
	var number: float = value
	return number >= least and number <= most and number == floorf(number)
