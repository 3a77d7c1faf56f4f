# Every check that fails leaves its function at once.
# gdlint: disable=max-returns
class_name DojoHttpRoutes
extends RefCounted
## What can be asked for over HTTP, checked field by field. It knows nothing of lines and tokens.

## Paths that need no token.
const OPEN: PackedStringArray = ["/health", "/openapi.json"]
## Most a seed can be: the engine reads numbers of JSON as 64-bit floats.
const MAX_SEED := 9007199254740991
## The engine's monitors in [code]/performance/metrics[/code], by group and name.
const MONITORS: Dictionary[String, Dictionary] = {
	"engine":
	{
		"fps": Performance.TIME_FPS,
		"process_time_s": Performance.TIME_PROCESS,
		"physics_time_s": Performance.TIME_PHYSICS_PROCESS,
	},
	"memory":
	{
		"static_memory_usage": Performance.MEMORY_STATIC,
		"static_memory_peak": Performance.MEMORY_STATIC_MAX,
		"video_memory_usage": Performance.RENDER_VIDEO_MEM_USED,
	},
	"objects":
	{
		"object_count": Performance.OBJECT_COUNT,
		"node_count": Performance.OBJECT_NODE_COUNT,
		"resource_count": Performance.OBJECT_RESOURCE_COUNT,
	},
	"rendering":
	{
		"draw_calls": Performance.RENDER_TOTAL_DRAW_CALLS_IN_FRAME,
		"objects_drawn": Performance.RENDER_TOTAL_OBJECTS_IN_FRAME,
		"primitives_drawn": Performance.RENDER_TOTAL_PRIMITIVES_IN_FRAME,
	},
}
const _SCENE_FRAMES := 600

## The game that is played; null until the first request for it.
var game: DojoHttpGame
## The scenes that may be loaded.
var whitelist: DojoSceneWhitelist
## How the server itself is doing, for [code]/performance/metrics[/code].
var counts: Dictionary[String, int] = {"requests": 0, "refused": 0, "longest_serving_us": 0}

var _tree: SceneTree
var _usual_envs: int
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
	"/rl/step": {"POST": _step},
	"/rl/reset": {"POST": _reset},
}


func _init(tree: SceneTree, allowed: DojoSceneWhitelist, usual_envs: int) -> void:
	_tree = tree
	whitelist = allowed
	_usual_envs = usual_envs


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
	return DojoHttpReply.make(DojoHttpOpenapi.describe(whitelist.scenes, game))


func _status() -> DojoHttpReply:
	var version: Dictionary = Engine.get_version_info()
	return (
		DojoHttpReply
		. make(
			{
				"game": ProjectSettings.get_setting("application/config/name", ""),
				"godot": "%d.%d.%d" % [version["major"], version["minor"], version["patch"]],
				"scene": _scene_name(),
				"scenes": whitelist.scenes.keys(),
				"driven": game != null and game.is_in(_tree.current_scene) and game.is_driven(),
				"uptime_s": (Time.get_ticks_msec() - _began_ms) * 0.001,
				"requests": counts["requests"],
				"reloads": _reloads,
			}
		)
	)


func _metrics() -> DojoHttpReply:
	var metrics: Dictionary = {}
	for group: String in MONITORS:
		metrics[group] = {}
		for key: String in MONITORS[group]:
			metrics[group][key] = Performance.get_monitor(
				MONITORS[group][key] as Performance.Monitor
			)
	metrics["engine"]["physics_frames"] = Engine.get_physics_frames()
	metrics["http"] = counts
	for monitor: DojoPerformanceMonitor in _tree.get_nodes_in_group(DojoPerformanceMonitor.GROUP):
		metrics["performance"] = monitor.summary()
	return DojoHttpReply.make(metrics)


func _observation() -> DojoHttpReply:
	var refusal: DojoHttpReply = await _taken_over()
	return refusal if refusal != null else _observed()


func _observed() -> DojoHttpReply:
	var all: Array[PackedFloat32Array] = game.observations()
	return DojoHttpReply.make({"observation": all[0], "observations": all, "round": game.rounds})


func _state() -> DojoHttpReply:
	var refusal: DojoHttpReply = await _taken_over()
	if refusal != null:
		return refusal
	var terms: Dictionary[String, float] = {}
	for number in game.reward_terms.size():
		terms[game.reward_terms[number]] = game.round_terms[number]
	return (
		DojoHttpReply
		. make(
			{
				"scene": _scene_name(),
				"scene_path": _scene_path(),
				"num_envs": game.num_envs,
				"round": game.rounds,
				"decisions": game.decisions,
				"terms": terms,
				"game": game.description,
			}
		)
	)


func _reset(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if not ["seed", "num_envs", "options", "ticks_per_decision"].has(key):
			return _unknown(key, "seed, num_envs, options, ticks_per_decision")
	var number: Variant = fields.get("seed", 0)
	if not _is_whole(number, 0, MAX_SEED):
		return DojoHttpReply.fail(422, "seed must be a whole number from 0 to %d" % MAX_SEED)
	var envs: Variant = fields.get("num_envs", _usual_envs)
	if not _is_whole(envs, 1, DojoHttpGame.MAX_ENVS):
		var most: int = DojoHttpGame.MAX_ENVS
		return DojoHttpReply.fail(422, "num_envs must be a whole number from 1 to %d" % most)
	var ticks: Variant = fields.get("ticks_per_decision")
	if ticks != null and not _is_whole(ticks, 1, 60):
		return DojoHttpReply.fail(422, "ticks_per_decision must be a whole number from 1 to 60")
	var options: Variant = fields.get("options", {})
	if not options is Dictionary:
		return DojoHttpReply.fail(422, "options must be an object")
	var refusal: DojoHttpReply = _unless_playable()
	if refusal != null:
		return refusal
	if fields.size() > int(fields.has("seed")) or not game.is_driven():
		var wanted: Variant = null if ticks == null else int(ticks as float)
		var complaint: String = await game.configure(
			int(envs as float), options as Dictionary, wanted
		)
		if not complaint.is_empty():
			return DojoHttpReply.fail(409, complaint)
	var trouble: String = game.reset(int(number as float))
	return _observed() if trouble.is_empty() else DojoHttpReply.fail(500, trouble)


func _action(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if not ["action", "ticks"].has(key):
			return _unknown(key, "action, ticks")
	var refusal: DojoHttpReply = await _taken_over()
	if refusal != null:
		return refusal
	if game.num_envs != 1:
		var sentence: String = "%d environments are played: POST /rl/step takes an action for each"
		return DojoHttpReply.fail(409, sentence % game.num_envs)
	var action := PackedFloat32Array()
	var complaint: String = _add_action("action", fields.get("action"), action)
	if not complaint.is_empty():
		return DojoHttpReply.fail(422, complaint)
	var ticks: Variant = fields.get("ticks", 1)
	if not _is_whole(ticks, 1, DojoHttpGame.MAX_TICKS):
		return DojoHttpReply.fail(
			422, "ticks must be a whole number from 1 to %d" % DojoHttpGame.MAX_TICKS
		)
	var sum: Dictionary = {}
	while sum.is_empty() or (sum["ticks"] < ticks and sum["final"] == null):
		var trouble: String = await game.play(action)
		if not trouble.is_empty():
			return DojoHttpReply.fail(500, trouble)
		_add_step(sum, game.step_of(0))
	return DojoHttpReply.make(sum)


func _step(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if key != "actions":
			return _unknown(key, "actions")
	var refusal: DojoHttpReply = await _taken_over()
	if refusal != null:
		return refusal
	var list: Variant = fields.get("actions")
	if not list is Array or (list as Array).size() != game.num_envs:
		return DojoHttpReply.fail(
			422, "actions must be a list of %d actions, one for each environment" % game.num_envs
		)
	var actions := PackedFloat32Array()
	for env in game.num_envs:
		var complaint: String = _add_action("actions[%d]" % env, list[env], actions)
		if not complaint.is_empty():
			return DojoHttpReply.fail(422, complaint)
	var trouble: String = await game.play(actions)
	if not trouble.is_empty():
		return DojoHttpReply.fail(500, trouble)
	var steps: Array[Dictionary] = []
	for env in game.num_envs:
		steps.append(game.step_of(env))
	return DojoHttpReply.make({"steps": steps})


## Appends the numbers of an action. Returns an error message, or an empty text.
func _add_action(name: String, value: Variant, into: PackedFloat32Array) -> String:
	var size: int = game.action_low.size()
	if not value is Array or (value as Array).size() != size:
		return "%s must be a list of exactly %d numbers" % [name, size]
	for index in size:
		var number: Variant = value[index]
		if not (number is float or number is int):
			return "%s must hold numbers only" % name
		if not (number >= game.action_low[index] and number <= game.action_high[index]):
			var limits: Array = [game.action_low[index], game.action_high[index]]
			return "%s[%d] must be a number from %d to %d" % ([name, index] + limits)
		into.append(number as float)
	return ""


## Adds a decision to those before it with the same action.
static func _add_step(sum: Dictionary, step: Dictionary) -> void:
	if not sum.is_empty():
		step["reward"] += sum["reward"]
		step["ticks"] += sum["ticks"]
		for term: String in step["terms"]:
			step["terms"][term] += sum["terms"][term]
	sum.merge(step, true)


func _scene(fields: Dictionary) -> DojoHttpReply:
	for key: Variant in fields:
		if key != "scene" and key != "scene_path":
			return _unknown(key, "scene, scene_path")
	var wanted: Variant = fields.values()[0] if fields.size() == 1 else null
	if not wanted is String:
		return DojoHttpReply.fail(
			422, "send one text: scene, the name of a scene, or scene_path, its path"
		)
	var path: String = wanted
	if fields.has("scene"):
		path = whitelist.scenes.get(wanted, "")
	if whitelist.name_of(path) == null:
		var name: String = DojoUntrustedText.quoted(wanted)
		return DojoHttpReply.fail(404, "%s may not be loaded; %s" % [name, whitelist.advice()])
	return await _load(path)


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
		return DojoHttpReply.fail(
			500, "the scene cannot be loaded; the game's output names the error"
		)
	for _frame in _SCENE_FRAMES:
		await _tree.process_frame
		var scene: Node = _tree.current_scene
		if scene != null and scene != before and scene.is_node_ready():
			var loaded: Dictionary = {"scene": _scene_name(), "scene_path": _scene_path()}
			return DojoHttpReply.make(loaded.merged({"reloads": _reloads}))
	return DojoHttpReply.fail(500, "the scene did not come up")


## Sees to it that there is a round to look at; null when all is well.
func _taken_over() -> DojoHttpReply:
	var refusal: DojoHttpReply = _unless_playable()
	if refusal != null or game.is_driven():
		return refusal
	return await _first_round()


func _first_round() -> DojoHttpReply:
	var complaint: String = await game.configure(_usual_envs, {}, null)
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
	return whitelist.name_of(_scene_path())


func _scene_path() -> String:
	return _tree.current_scene.scene_file_path if _tree.current_scene != null else ""


static func _unknown(key: Variant, known: String) -> DojoHttpReply:
	return DojoHttpReply.fail(
		422, "there is no field %s; there is: %s" % [DojoUntrustedText.quoted(key), known]
	)


static func _is_whole(value: Variant, least: int, most: int) -> bool:
	if not (value is float or value is int):
		return false
	var number: float = value
	return number >= least and number <= most and number == floorf(number)
