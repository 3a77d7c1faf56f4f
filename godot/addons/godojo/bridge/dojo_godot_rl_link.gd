class_name DojoGodotRlLink
extends DojoLink
## A link that speaks godot_rl's JSON over TCP, so that its Python package drives a [DojoSync] scene
## as it drives its own.
##
## Words on the command line that it heeds: [code]--action_repeat=[/code], [code]--env_seed=[/code],
## [code]--speedup=[/code], and [code]--worlds=[/code] for many worlds in one process.

## How long a call may ring, and how long sending may take, in microseconds.
const RING_US := 5_000_000
const SEND_US := 30_000_000
const MAJOR_VERSION := "0"
## Seeds of one game's resets lie this far apart, so that they do not meet its neighbours'.
const SEED_STRIDE := 1_000_003

var _peer := StreamPeerTCP.new()
var _wire := DojoGodotRlWire.new()
var _received := PackedByteArray()
var _called_us: int = 0
var _env_info: Dictionary = {}
var _resets: int = 0
var _is_reset: bool = false


func call_trainer(host: String, port: int, _greeting: Dictionary) -> void:
	_called_us = Time.get_ticks_usec()
	state = LinkState.CALLING
	if _peer.connect_to_host(host, port) != OK:
		lose("%s:%d is no address that can be called" % [host, port])


func poll() -> void:
	if state != LinkState.CALLING and state != LinkState.OPEN:
		return
	_peer.poll()
	match _peer.get_status():
		StreamPeerTCP.STATUS_CONNECTED:
			_receive()
			if state == LinkState.CALLING and _received.size() >= 4:
				_peer.set_no_delay(true)
				state = LinkState.OPEN
		StreamPeerTCP.STATUS_CONNECTING:
			pass
		_:
			# What came before the trainer left is still read.
			if state == LinkState.CALLING or _frame_length() < 0:
				lose("nobody answered" if state == LinkState.CALLING else "the trainer hung up")
	if state == LinkState.CALLING and Time.get_ticks_usec() - _called_us > RING_US:
		_peer.disconnect_from_host()
		lose("nobody answered")


func next_message() -> Dictionary:
	while state == LinkState.OPEN:
		var length: int = _frame_length()
		if length < 0:
			return {}
		var text: String = _received.slice(4, 4 + length).get_string_from_ascii()
		_received = _received.slice(4 + length)
		var said: Dictionary = _wire.read(text)
		var message: Dictionary = _heed(said) if _wire.error.is_empty() else {}
		if not _wire.error.is_empty():
			send_error(_wire.error)
			hang_up(_wire.error)
			return {}
		if not message.is_empty():
			return message
	return {}


func send_ready(description: Dictionary) -> void:
	_env_info = _wire.set_description(description)
	if _wire.agents > DojoGodotRlWire.MAX_AGENTS:
		var complaint: String = "%d agents are more than godot_rl can have" % _wire.agents
		send_error(complaint)
		hang_up(complaint)
		return
	_hurry()
	_send(_wire.write(_env_info))


func send_step(results: DojoResults) -> void:
	_wire.repair(results)
	var message: Dictionary = _wire.write_reset(results) if _is_reset else _wire.write_step(results)
	_is_reset = false
	_send(_wire.write(message))


## Its trainers know no errors, but this one they cannot take for an answer: they end instead of
## waiting for ever.
func send_error(message: String, _worlds: int = 0) -> void:
	if state == LinkState.OPEN:
		_send(JSON.stringify({"type": "error", "message": message}))


func hang_up(reason: String) -> void:
	if state == LinkState.OPEN or state == LinkState.CALLING:
		_peer.disconnect_from_host()
		lose(reason)


## What a message asks of the game; empty if it has been dealt with here.
func _heed(said: Dictionary) -> Dictionary:
	match said["type"]:
		"handshake":
			_check_version(str(said.get("major_version")))
		"env_info" when _env_info.is_empty():
			return _what_to_play()
		"env_info":
			_send(_wire.write(_env_info))
		"close":
			return {"type": "close", "reason": "the trainer is done"}
		_ when _env_info.is_empty():
			_wire.error = "a message came before env_info"
		"reset":
			_is_reset = true
			_resets += 1
			return {"type": "reset", "seed": _seed() + (_resets - 1) * SEED_STRIDE}
		"action" when _resets > 0:
			return {"type": "act", "actions": _wire.read_actions(said.get("action"))}
		"action":
			_wire.error = "an action came before a reset"
		"call":
			# Nobody calls methods by name from outside; the trainer learns that nothing came of it.
			var returns: Array = []
			returns.resize(_wire.agents)
			_send(_wire.write({"type": "call", "returns": returns}))
		_:
			_wire.error = "a message has an unknown type"
	return {}


func _check_version(major: String) -> void:
	if major != MAJOR_VERSION:
		_wire.error = (
			"the trainer speaks godot_rl %s, and this game %s" % [major.left(20), MAJOR_VERSION]
		)


func _what_to_play() -> Dictionary:
	var worlds: Variant = DojoGodotRlWire.whole_word("worlds", 1, DojoWire.MAX_WORLDS)
	return {
		"type": "configure",
		"worlds": worlds if worlds != null else 1,
		"ticks_per_decision": DojoGodotRlWire.whole_word("action_repeat", 1, DojoWire.MAX_TICKS),
		"options": {},
		"truth": false,
	}


func _seed() -> int:
	var given: Variant = DojoGodotRlWire.whole_word("env_seed", 0, DojoWire.MAX_SEED >> 1)
	return given if given != null else 1


## Plays as many times faster as the trainer wishes; a tick stays as long as it is.
func _hurry() -> void:
	var factor: float = DojoGodotRlWire.word("speedup").to_float()
	if factor <= 0.0 or factor > 10_000.0:
		return
	var usual: float = Engine.physics_ticks_per_second / Engine.time_scale
	Engine.time_scale = factor
	Engine.physics_ticks_per_second = maxi(roundi(usual * factor), 1)
	Engine.max_physics_steps_per_frame = maxi(Engine.max_physics_steps_per_frame, ceili(factor))


func _receive() -> void:
	var waiting: int = _peer.get_available_bytes()
	if waiting > 0:
		_received.append_array(_peer.get_partial_data(waiting)[1])


## The length of the message that has arrived in full; -1 if none has.
func _frame_length() -> int:
	if _received.size() < 4:
		return -1
	var length: int = _received.decode_u32(0)
	if length > MAX_MESSAGE:
		hang_up("a message of %d bytes came, and %d are allowed" % [length, MAX_MESSAGE])
		return -1
	return length if _received.size() >= 4 + length else -1


func _send(text: String) -> void:
	var body: PackedByteArray = text.to_utf8_buffer()
	var bytes := PackedByteArray()
	bytes.resize(4)
	bytes.encode_u32(0, body.size())
	bytes.append_array(body)
	var started_us: int = Time.get_ticks_usec()
	while state == LinkState.OPEN and not bytes.is_empty():
		var sent: Array = _peer.put_partial_data(bytes)
		if sent[0] != OK:
			lose("the trainer hung up")
		elif sent[1] == bytes.size():
			return
		elif Time.get_ticks_usec() - started_us > SEND_US:
			hang_up("the trainer does not take what it asked for")
		else:
			bytes = bytes.slice(sent[1])
			OS.delay_usec(100)
			_peer.poll()
