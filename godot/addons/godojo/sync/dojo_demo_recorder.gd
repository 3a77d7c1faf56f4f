class_name DojoDemoRecorder
extends RefCounted
## Records what agents see and do as demonstrations, for trainers to imitate.
##
## The file has a header and a line for each finished episode of an agent, written when it ends, so
## that a game which is killed loses nothing but the episode under way. docs/imitation.md has the
## format.

const FORMAT := "godojo-demo/1"
## Names the file in place of [member DojoSync.demo_path].
const ENVIRONMENT := "GODOJO_DEMO"

## Episodes that have been written.
var episodes: int = 0
## An error of one line; empty while there is none.
var error: String = ""

var _file: FileAccess
var _roles: Array[String] = []
var _observations: Array[PackedFloat32Array] = []
var _actions: Array[PackedFloat32Array] = []
var _steps := PackedInt32Array()
var _rewards := PackedFloat64Array()
# Of each role, in order: agents, numbers of an observation, numbers of an action.
var _sizes: Array[Vector3i] = []


## Begins a file at [param path] for these roles, each with [code]name[/code],
## [code]agents[/code], [code]observation[/code] and [code]action[/code] as
## [method DojoWorlds.describe] has them. A file that exists is kept, and a number is added to the
## name. Look at [member error] before using the rest.
func _init(path: String, game: String, roles: Array, ticks_per_decision: int) -> void:
	var place: String = _free(path)
	_file = FileAccess.open(place, FileAccess.WRITE)
	if _file == null:
		error = "%s cannot be written (%s)" % [place, error_string(FileAccess.get_open_error())]
		return
	var spaces: Array[Dictionary] = []
	for role: Dictionary in roles:
		_add_role(role)
		var space: Dictionary = role.duplicate()
		space.erase("agents")
		spaces.append(space)
	_write(
		{
			"format": FORMAT,
			"game": game,
			"player": "human",
			"ticks_per_decision": ticks_per_decision,
			"roles": spaces,
		}
	)
	print("Godojo: recording demonstrations to %s" % _file.get_path_absolute())


## The file to record to; empty for none.
static func path_for(exported: String) -> String:
	var asked: String = OS.get_environment(ENVIRONMENT)
	return asked if not asked.is_empty() else exported


## Takes what a decision brought, and the actions that answer it; agents are rows, in the order of
## [DojoResults]. Rows in [param others] are played by somebody else and not recorded.
func note(results: DojoResults, actions: PackedFloat32Array, others := PackedInt32Array()) -> void:
	var row: int = 0
	var seen: int = 0
	var done: int = 0
	var terms: int = 0
	if not results.flags.is_empty():
		terms = floori(float(results.terms.size()) / results.flags.size())
	for size in _sizes:
		for _agent in size.x:
			if not others.has(row):
				_take(row, results, terms)
				decide(
					row,
					results.observation.slice(seen, seen + size.y),
					actions.slice(done, done + size.z)
				)
			row += 1
			seen += size.y
			done += size.z


## An agent answers [param observation] by [param action].
func decide(agent: int, observation: PackedFloat32Array, action: PackedFloat32Array) -> void:
	_observations[agent].append_array(observation)
	_actions[agent].append_array(action)
	_steps[agent] += 1


## The last decision of an agent was worth this.
func reward(agent: int, amount: float) -> void:
	_rewards[agent] += amount


## The episode of an agent is over and is written.
func finish(agent: int, is_terminated: bool) -> void:
	if _steps[agent] > 0:
		var seen: String = Marshalls.raw_to_base64(_observations[agent].to_byte_array())
		var done: String = Marshalls.raw_to_base64(_actions[agent].to_byte_array())
		_write(
			{
				"role": _roles[agent],
				"end": "terminated" if is_terminated else "truncated",
				"steps": _steps[agent],
				"reward": _rewards[agent],
				"observation": seen,
				"action": done,
			}
		)
		episodes += 1
		print(
			(
				"Godojo: episode %d recorded, %d steps, reward %.2f"
				% [episodes, _steps[agent], _rewards[agent]]
			)
		)
	drop(agent)


## Forgets the episode under way of an agent.
func drop(agent: int) -> void:
	_observations[agent] = PackedFloat32Array()
	_actions[agent] = PackedFloat32Array()
	_steps[agent] = 0
	_rewards[agent] = 0.0


func _add_role(role: Dictionary) -> void:
	var agents: int = role["agents"]
	_sizes.append(
		Vector3i(
			agents,
			DojoObservationLayout.observation_size(role["observation"] as Array),
			DojoObservationLayout.action_size(role["action"] as Array)
		)
	)
	for _agent in agents:
		_roles.append(role["name"] as String)
		_observations.append(PackedFloat32Array())
		_actions.append(PackedFloat32Array())
		_steps.append(0)
		_rewards.append(0.0)


func _take(row: int, results: DojoResults, terms: int) -> void:
	var flags: int = results.flags[row]
	if flags & DojoResults.ACTED:
		for term in terms:
			reward(row, results.terms[row * terms + term])
	if flags & (DojoResults.TERMINATED | DojoResults.TRUNCATED):
		finish(row, flags & DojoResults.TERMINATED)


func _write(line: Dictionary) -> void:
	var text: String = JSON.stringify(line, "", false, true).trim_suffix("}")
	_file.store_line('%s,"sha256":"%s"}' % [text, text.sha256_text()])
	_file.flush()
	if _file.get_error() != OK:
		error = "%s cannot be written; finished episodes are intact" % _file.get_path_absolute()
		printerr("Godojo: " + error)


static func _free(path: String) -> String:
	var place: String = path
	var number: int = 2
	while FileAccess.file_exists(place):
		place = "%s-%d" % [path.get_basename(), number]
		if path.get_extension() != "":
			place += "." + path.get_extension()
		number += 1
	return place
