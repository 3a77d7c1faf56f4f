extends SceneTree
## Plays given rounds in the real game and writes down what happened, tick by tick.
##
## [codeblock]
## godot --headless --fixed-fps 60 --script res://games/tag/parity/record.gd -- JOB.json OUT
## [/codeblock]
## JOB.json holds [code]arenas[/code] and [code]groups[/code]: settings, and episodes with the
## arena's number, where each agent stands (x, y of the ground, z, heading) and who is it. What
## everybody does lies beside it in JOB.bin, three 32-bit floats an agent and decision, episode by
## episode. OUT is a folder: recording.bin gets 32-bit floats, for each episode the ticks (the start
## being the first), the observations and the reward's terms; recording.json says how many there are
## and how each episode ended.

## Numbers written for each agent and tick.
const TICK_FIELDS: PackedStringArray = [
	"x",
	"y",
	"z",
	"velocity_x",
	"velocity_y",
	"velocity_z",
	"heading",
	"heading_rest",
	"grounded",
	"active",
	"chases",
	"coyote_ticks",
	"immune_ticks",
]

var _actions: PackedFloat32Array
var _read: int
var _endings: Array[Dictionary] = []
var _file: FileAccess


func _initialize() -> void:
	_run.call_deferred()


func _run() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	var complaint: String = "usage: -- JOB.json OUT"
	if words.size() == 2:
		complaint = await _record(words[0], words[1])
	if not complaint.is_empty():
		print("FAILED: ", complaint)
	quit(0 if complaint.is_empty() else 1)


func _record(job_path: String, out: String) -> String:
	var parsed: Variant = JSON.parse_string(FileAccess.get_file_as_string(job_path))
	if not parsed is Dictionary:
		return "%s is no job" % job_path
	var job: Dictionary = parsed
	var bytes: PackedByteArray = FileAccess.get_file_as_bytes(job_path.get_basename() + ".bin")
	_actions = bytes.to_float32_array()
	_file = FileAccess.open(out.path_join("recording.bin"), FileAccess.WRITE)
	if _file == null:
		return "%s cannot be written" % out
	for group: Dictionary in job["groups"]:
		var complaint: String = await _play_group(group, job["arenas"] as Array)
		if not complaint.is_empty():
			return complaint
	_file.close()
	var listing: FileAccess = FileAccess.open(out.path_join("recording.json"), FileAccess.WRITE)
	listing.store_string(JSON.stringify({"fields": TICK_FIELDS, "episodes": _endings}))
	listing.close()
	return ""


## Plays a group's episodes in their order; those in the same arena follow each other in one world.
func _play_group(group: Dictionary, arenas: Array) -> String:
	var settings := TagSettings.new()
	var complaint: String = settings.set_all(group["settings"])
	var world: TagWorld = null
	var put_up: int = -1
	for episode: Dictionary in group["episodes"]:
		var number: int = int(episode["arena"] as float)
		if number != put_up and complaint.is_empty():
			_drop(world)
			put_up = number
			world = TagWorld.new()
			root.add_child(world)
			var arena: ArenaData = ArenaData.from_dict(
				arenas[number] as Dictionary, "arenas[%d]" % number, settings
			)
			complaint = world.configure(settings, arena, 1)
			await physics_frame
		if not complaint.is_empty():
			break
		_play(world, episode)
	_drop(world)
	return complaint


func _drop(world: TagWorld) -> void:
	if world != null:
		root.remove_child(world)
		world.queue_free()


func _play(world: TagWorld, episode: Dictionary) -> void:
	var ticks := PackedFloat32Array()
	var observations := PackedFloat32Array()
	var terms := PackedFloat32Array()
	var decisions: int = int(episode["decisions"] as float)
	var per_decision: int = world.settings.rules.ticks_per_decision
	var first: int = _read
	_read += decisions * world.agents.size() * 3
	_begin(world, episode)
	_write_tick(world, ticks)
	_append_observations(world, observations)
	for decision in decisions:
		if world.round_over:
			break
		for agent in world.agents:
			var at: int = first + (decision * world.agents.size() + agent.index) * 3
			world.set_action(agent.index, _actions[at], _actions[at + 1], _actions[at + 2])
		for _tick in per_decision:
			if world.round_over:
				break
			world.tick()
			_write_tick(world, ticks)
		_append_observations(world, observations)
		terms.append_array(world.rewards.terms)
	_file.store_buffer(ticks.to_byte_array())
	_file.store_buffer(observations.to_byte_array())
	_file.store_buffer(terms.to_byte_array())
	(
		_endings
		. append(
			{
				"ticks": world.tick_number,
				"decisions": terms.size() / world.rewards.terms.size(),
				"is_over": world.round_over,
				"winner": world.winner,
				"winner_index": world.winner_index,
				"scores": Array(world.scores),
			}
		)
	)


## A round in which everybody stands where the episode says.
func _begin(world: TagWorld, episode: Dictionary) -> void:
	world.reset()
	var starts: Array = episode["starts"]
	var it: int = int(episode["it"] as float)
	for agent in world.agents:
		var start: Array = starts[agent.index]
		var ground := Vector3(start[0] as float, start[1] as float, start[2] as float)
		world.place(agent, ground, start[3] as float)
		if it >= 0:
			agent.is_seeker_like = agent.index == it
	world.rewards.begin_round(world)


func _write_tick(world: TagWorld, into: PackedFloat32Array) -> void:
	var immune: Variant = world.rules.get(&"_immune_ticks")
	for agent in world.agents:
		var immune_ticks: int = (immune as PackedInt32Array)[agent.index] if immune != null else 0
		into.append(agent.position.x)
		into.append(agent.position.y)
		into.append(agent.position.z)
		into.append(agent.velocity.x)
		into.append(agent.velocity.y)
		into.append(agent.velocity.z)
		# The heading is a 64-bit number: what 32 bits leave over follows in a number of its own.
		into.append(agent.heading_rad)
		into.append(agent.heading_rad - into[-1])
		into.append(float(agent.grounded))
		into.append(float(agent.active))
		into.append(float(agent.is_seeker_like))
		into.append(agent.coyote_ticks)
		into.append(immune_ticks)


func _append_observations(world: TagWorld, into: PackedFloat32Array) -> void:
	for agent in world.agents:
		TagObservation.append(world, agent.index, into)
