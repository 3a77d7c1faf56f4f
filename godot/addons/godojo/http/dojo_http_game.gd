class_name DojoHttpGame
extends RefCounted
## One world of a running scene, played over HTTP: a [DojoWorlds] behind reset and act.
##
## Until the first request the scene plays as it is, by hand perhaps. From then on it stands still
## between actions.

## Most ticks of one action.
const MAX_TICKS := 600

## What the worlds are, as [method DojoWorlds.describe] tells it; empty until they are configured.
var description: Dictionary = {}
## Numbers of an observation and of an action.
var observation_size: int = 0
var action_size: int = 0
## Physics ticks from one decision to the next.
var ticks_per_decision: int = 0
## The latest observation.
var observation := PackedFloat32Array()
## Rounds begun since the scene was loaded.
var rounds: int = 0
## Of the round that is being played: decisions, and terms by name.
var decisions: int = 0
var round_terms: Dictionary[String, float] = {}

var _tree: SceneTree
var _scene_id: int = 0
var _worlds: DojoWorlds
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


## Makes the world anew. Returns an error message, or an empty text. May take some physics frames.
func configure(options: Dictionary, ticks: Variant) -> String:
	var wanted: Variant = ticks if ticks != null else _usual_ticks
	var request: Dictionary = {"worlds": 1, "ticks_per_decision": wanted, "options": options}
	var complaint: String = _worlds.configure(request)
	if not complaint.is_empty():
		return complaint
	var described: Dictionary = _worlds.describe()
	var roles: Array = described["roles"]
	if roles.size() != 1 or roles[0]["agents"] != 1:
		return "this scene has more than one agent; over HTTP one is played, over dojo/1 all of them"
	described.merge({"worlds": 1, "ticks_per_decision": wanted if wanted != null else 1})
	description = described
	ticks_per_decision = int(described["ticks_per_decision"] as float)
	observation_size = DojoObservationLayout.observation_size(roles[0]["observation"] as Array)
	action_size = DojoObservationLayout.action_size(roles[0]["action"] as Array)
	# New bodies are in the engine's space after the next physics frame.
	await _tree.physics_frame
	return ""


## Begins a round. Returns an error message, or an empty text.
func reset(seed_number: int) -> String:
	_worlds.reset(seed_number)
	var results: DojoResults = _worlds.collect()
	_stand_still(true)
	rounds += 1
	decisions = 0
	round_terms.clear()
	observation = results.observation
	return _worlds.trouble


## Plays whole decisions with this action until [param ticks] are over or the round ends. Returns
## what it brought; an object with only [code]message[/code] where the game cannot go on.
func act(action: PackedFloat32Array, ticks: int) -> Dictionary:
	var terms: Dictionary[String, float] = {}
	for term: String in description["reward_terms"]:
		terms[term] = 0.0
	var results: DojoResults
	var played: int = 0
	while played < ticks:
		_worlds.act(action)
		if _worlds.advances_itself:
			_worlds.advance()
		else:
			_stand_still(false)
			for _tick in ticks_per_decision:
				await _tree.physics_frame
			_stand_still(true)
		if not is_instance_valid(_worlds):
			return {"message": "the scene is gone"}
		results = _worlds.collect()
		if not _worlds.trouble.is_empty():
			return {"message": _worlds.trouble}
		played += ticks_per_decision
		_add_terms(results, terms)
		if results.flags[0] & (DojoResults.TERMINATED | DojoResults.TRUNCATED):
			break
	observation = results.observation
	return _step_of(results, terms, played)


func _step_of(results: DojoResults, terms: Dictionary[String, float], played: int) -> Dictionary:
	var reward: float = 0.0
	for term in terms:
		reward += terms[term]
	var flags: int = results.flags[0]
	var step: Dictionary = {
		"observation": observation,
		"reward": reward,
		"terms": terms,
		"terminated": flags & DojoResults.TERMINATED != 0,
		"truncated": flags & DojoResults.TRUNCATED != 0,
		"ticks": played,
		"final": null,
	}
	if step["terminated"] or step["truncated"]:
		var winner: int = results.ended[1] if results.ended.size() >= 4 else 0
		var arena: int = results.ended[3] if results.ended.size() >= 4 else -1
		step["final"] = {
			"observation": results.final_observation[0],
			"terms": round_terms.duplicate(),
			"score": results.final_score[0][0],
			"winner": description["winners"][winner],
			"ticks": results.ended[2] if results.ended.size() >= 4 else played,
			"arena": description["arenas"][arena] if arena >= 0 else null,
		}
		rounds += 1
		decisions = 0
		round_terms.clear()
	return step


func _add_terms(results: DojoResults, terms: Dictionary[String, float]) -> void:
	decisions += 1
	var number: int = 0
	for term in terms:
		terms[term] += results.terms[number]
		round_terms[term] = round_terms.get(term, 0.0) + results.terms[number]
		number += 1


func _stand_still(is_still: bool) -> void:
	if not _worlds.advances_itself:
		_tree.paused = is_still
