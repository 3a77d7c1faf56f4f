class_name Sync
extends Node
## Speaks the third generation of the wire for every controller in the group AGENT.

@export var action_repeat := 8
@export var speed_up := 1.0

var stream := StreamPeerTCP.new()
var agents: Array[Node] = []
var options := {}
var ticks := 0
var connected := false
var owes_step := false
var owes_reset := false


func _ready() -> void:
	await get_parent().ready
	get_tree().paused = true
	for word in OS.get_cmdline_args():
		var pair := word.split("=")
		options[pair[0].lstrip("--")] = pair[1] if pair.size() > 1 else ""
	var speed: float = options.get("speedup", str(speed_up)).to_float()
	Engine.physics_ticks_per_second = int(60 * speed)
	Engine.time_scale = speed
	action_repeat = options.get("action_repeat", str(action_repeat)).to_int()
	seed(options.get("env_seed", "1").to_int())
	agents = get_tree().get_nodes_in_group("AGENT")
	connected = _connect()
	if connected:
		for agent in agents:
			agent.set_heuristic("model")
		_receive()
		_receive()
		_send(
			{
				"type": "env_info",
				"observation_space": _of_each("get_obs_space"),
				"action_space": _of_each("get_action_space"),
				"n_agents": agents.size(),
				"agent_policy_names":
				agents.map(func(agent: Node) -> String: return agent.policy_name),
			}
		)
	get_tree().paused = false


func _physics_process(_delta: float) -> void:
	ticks += 1
	if not connected or (ticks - 1) % action_repeat != 0:
		return
	get_tree().paused = true
	if owes_reset:
		owes_reset = false
		_send({"type": "reset", "obs": _of_each("get_obs"), "info": _of_each("get_info")})
		get_tree().paused = false
		return
	if owes_step:
		owes_step = false
		_send(
			{
				"type": "step",
				"obs": _of_each("get_obs"),
				"reward": _of_each("get_reward"),
				"done": _of_each("get_done"),
				"info": _of_each("get_info"),
			}
		)
		for agent in agents:
			agent.zero_reward()
			agent.set_done_false()
	_obey()


func _obey() -> void:
	var message: Variant = _receive()
	if message == null:
		return
	match message["type"]:
		"close":
			get_tree().quit()
			get_tree().paused = false
		"reset":
			for agent in agents:
				agent.needs_reset = true
			owes_reset = true
			get_tree().paused = false
		"action":
			for index in agents.size():
				agents[index].set_action(message["action"][index])
			owes_step = true
			get_tree().paused = false


func _of_each(method: StringName) -> Array:
	return agents.map(func(agent: Node) -> Variant: return agent.call(method))


func _connect() -> bool:
	stream.connect_to_host("127.0.0.1", options.get("port", "11008").to_int())
	while stream.get_status() == StreamPeerTCP.STATUS_CONNECTING:
		stream.poll()
	stream.set_no_delay(true)
	return stream.get_status() == StreamPeerTCP.STATUS_CONNECTED


func _receive() -> Variant:
	while stream.get_available_bytes() == 0:
		stream.poll()
		if stream.get_status() != StreamPeerTCP.STATUS_CONNECTED:
			get_tree().quit()
			return null
		OS.delay_usec(10)
	return JSON.parse_string(stream.get_string())


func _send(message: Dictionary) -> void:
	stream.put_string(JSON.stringify(message, "", false))
