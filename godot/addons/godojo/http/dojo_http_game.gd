class_name DojoHttpGame
extends RefCounted
## The environments of a running scene, played over HTTP: a [DojoWorlds] behind reset and step.
##
## Until the first request the scene plays as it is, by hand perhaps. From then on it stands still
## between actions.

## Most ticks of one action.
const MAX_TICKS := 600
## Most environments.
const MAX_ENVS := 256

## What the worlds are, as [method DojoWorlds.describe] tells it; empty until they are configured.
var description: Dictionary = {}
## Environments that are played at once.
var num_envs: int = 0
## Numbers of one observation.
var observation_size: int = 0
## The least and the greatest value of each number of an action.
var action_low := PackedFloat32Array()
var action_high := PackedFloat32Array()
## Names of the terms of a reward.
var reward_terms := PackedStringArray()
## Physics ticks from one decision to the next.
var ticks_per_decision: int = 0
## Rounds begun since the scene was loaded, in all environments.
var rounds: int = 0
## Of the round of the first environment: decisions, and terms in the order of their names.
var decisions: int = 0
var round_terms := PackedFloat32Array()

var _tree: SceneTree
var _scene_id: int = 0
var _worlds: DojoWorlds
var _results: DojoResults
# Null where there is no DojoSync: the worlds say it themselves.
var _usual_ticks: Variant = null


## The first [DojoWorlds] of [param scene] is played, or that of its [DojoSync].
func _init(tree: SceneTree, scene: Node) -> void:
	_tree = tree
	_scene_id = scene.get_instance_id()
	for node in scene.find_children("*", "DojoWorlds", true, false):
		_worlds = node
		break
	for node in scene.find_children("*", "DojoSync", true, false):
		var sync: DojoSync = node
		_worlds = sync.worlds
		_usual_ticks = sync.ticks_per_decision
		# Two cannot drive the same worlds.
		sync.process_mode = Node.PROCESS_MODE_DISABLED
		_worlds.process_mode = Node.PROCESS_MODE_PAUSABLE


## Whether [param scene] is the one that is played.
func is_in(scene: Node) -> bool:
	return scene != null and scene.get_instance_id() == _scene_id


## Whether there is something to play.
func can_play() -> bool:
	return _worlds != null


## Whether the scene has been taken over.
func is_driven() -> bool:
	return not description.is_empty()


## Makes the environments anew. Returns an error message, or an empty text. May take some physics
## frames.
func configure(envs: int, options: Dictionary, ticks: Variant) -> String:
	var wanted: Variant = ticks if ticks != null else _usual_ticks
	var request: Dictionary = {"worlds": envs, "ticks_per_decision": wanted, "options": options}
	var complaint: String = _worlds.configure(request)
	if not complaint.is_empty():
		return complaint
	var described: Dictionary = _worlds.describe()
	var roles: Array = described["roles"]
	if roles.size() != 1 or roles[0]["agents"] != 1:
		return "this scene has more than one agent; over HTTP one is played, over dojo/1 all of them"
	described.merge({"worlds": envs, "ticks_per_decision": wanted if wanted != null else 1})
	description = described
	num_envs = envs
	reward_terms = PackedStringArray(described["reward_terms"] as Array)
	ticks_per_decision = int(described["ticks_per_decision"] as float)
	observation_size = DojoObservationLayout.observation_size(roles[0]["observation"] as Array)
	_set_limits(roles[0]["action"] as Array)
	# New bodies are in the engine's space after the next physics frame.
	await _tree.physics_frame
	return ""


## Begins a round in every environment. Returns an error message, or an empty text.
func reset(seed_number: int) -> String:
	_worlds.reset(seed_number)
	var trouble: String = _collect()
	_stand_still(true)
	rounds += num_envs
	_begin_first()
	return trouble


## The observation of each environment.
func observations() -> Array[PackedFloat32Array]:
	var found: Array[PackedFloat32Array] = []
	for env in num_envs:
		found.append(_piece(_results.observation, env, observation_size))
	return found


## Plays one decision in every environment; [param actions] are one behind the other. Returns an
## error message, or an empty text.
func play(actions: PackedFloat32Array) -> String:
	_worlds.act(actions)
	if _worlds.advances_itself:
		_worlds.advance()
	else:
		_stand_still(false)
		for _tick in ticks_per_decision:
			await _tree.physics_frame
		_stand_still(true)
	if not is_instance_valid(_worlds):
		return "the scene is gone"
	var trouble: String = _collect()
	decisions += 1
	if trouble.is_empty():
		for number in round_terms.size():
			round_terms[number] += _results.terms[number]
	return trouble


## What the last decision brought in [param env].
func step_of(env: int) -> Dictionary:
	var flags: int = _results.flags[env]
	var terms: Dictionary[String, float] = {}
	var reward: float = 0.0
	for number in reward_terms.size():
		var term: float = _results.terms[env * reward_terms.size() + number]
		terms[reward_terms[number]] = term
		reward += term
	var step: Dictionary = {
		"observation": _piece(_results.observation, env, observation_size),
		"reward": reward,
		"terms": terms,
		"terminated": flags & DojoResults.TERMINATED != 0,
		"truncated": flags & DojoResults.TRUNCATED != 0,
		"ticks": ticks_per_decision,
		"final": null,
	}
	if step["terminated"] or step["truncated"]:
		step["final"] = _final(env)
		rounds += 1
		if env == 0:
			_begin_first()
	return step


func _collect() -> String:
	_results = _worlds.collect()
	# A script error ends collect() without a result.
	if _results == null:
		return "collect() of %s failed; the game's output names the error" % _worlds.name
	return _worlds.trouble


func _final(env: int) -> Dictionary:
	var row: int = _results.final_rows[0].find(env)
	var terms: Dictionary[String, float] = {}
	for number in reward_terms.size():
		terms[reward_terms[number]] = _results.final_terms[0][row * reward_terms.size() + number]
	var ended := PackedInt32Array([env, 0, ticks_per_decision, -1])
	for at in range(0, _results.ended.size(), 4):
		if _results.ended[at] == env:
			ended = _results.ended.slice(at, at + 4)
	return {
		"observation": _piece(_results.final_observation[0], row, observation_size),
		"terms": terms,
		"score": _results.final_score[0][row],
		"winner": description["winners"][ended[1]],
		"ticks": ended[2],
		"arena": description["arenas"][ended[3]] if ended[3] >= 0 else null,
	}


func _begin_first() -> void:
	decisions = 0
	round_terms.resize(reward_terms.size())
	round_terms.fill(0.0)


func _set_limits(parts: Array) -> void:
	action_low.clear()
	action_high.clear()
	for part: Dictionary in parts:
		var is_choice: bool = part["kind"] == "discrete"
		for _number in 1 if is_choice else int(part["size"] as float):
			action_low.append(0.0 if is_choice else -1.0)
			action_high.append((part["size"] as float) - 1.0 if is_choice else 1.0)


static func _piece(numbers: PackedFloat32Array, row: int, width: int) -> PackedFloat32Array:
	return numbers.slice(row * width, (row + 1) * width)


func _stand_still(is_still: bool) -> void:
	if not _worlds.advances_itself:
		_tree.paused = is_still
