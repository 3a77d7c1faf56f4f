class_name DojoConnector
extends RefCounted
## Finds a trainer: knows whom to call, calls again each second, and says when to give up.

## The wires a trainer may speak.
enum WireKind {
	## dojo/1; where nobody answers, godot_rl in turn.
	ANY,
	## Godojo's own.
	DOJO,
	## That of the godot_rl package.
	GODOT_RL,
}

## Where godot_rl's trainers listen.
const GODOT_RL_PORT := 11008
## How long a launched game looks for the trainer that launched it, in seconds.
const LAUNCH_PATIENCE_S := 30.0
## How long a game that waits is patient with a trainer, in seconds, if nothing else is said.
const PATIENCE_S := 600.0

## From one call to the next, in seconds; tests that make many calls shorten it.
static var pause_s: float = 1.0

## Whether a trainer started this process: such a game has nothing to do without it.
var is_launched: bool = false
## Whether the environment forbids to call anybody.
var is_off: bool = false
## How long a trainer may be silent, in seconds; the environment of a launched game may say it.
var patience_s: float = PATIENCE_S
## The line, once a trainer answered; null until then.
var link: DojoLink
## Why the last call failed.
var trouble: String = ""

var _host: String
var _port: int
var _wire: WireKind
var _greeting: Dictionary
var _calling: DojoLink
var _calls: int = 0
var _next_call_us: int = 0
var _give_up_us: int = 0


## Calls [param host] and [param port], or whom the environment names: [code]GODOJO_PORT[/code] of a
## launched game, or [code]GODOJO_SERVER[/code] ([code]HOST:PORT[/code], or [code]off[/code] for
## nobody). [param introduction] has more to say in the greeting.
func _init(
	host: String, port: int, wire: WireKind, game: String, introduction: Dictionary = {}
) -> void:
	_host = host
	_port = port
	_wire = wire
	var version: Dictionary = Engine.get_version_info()
	_greeting = {
		"token": OS.get_environment("GODOJO_TOKEN"),
		"game": game.left(64),
		"godot": "%d.%d.%d" % [version["major"], version["minor"], version["patch"]],
		"addon": "0.1.0",
	}
	_greeting.merge(introduction)
	var launch_port: String = OS.get_environment("GODOJO_PORT")
	var asked_port: String = _command_line_port()
	if launch_port.is_valid_int():
		is_launched = true
		_wire = WireKind.DOJO
		_port = launch_port.to_int()
		var launch_host: String = OS.get_environment("GODOJO_HOST")
		_host = launch_host if not launch_host.is_empty() else "127.0.0.1"
	elif asked_port.is_valid_int():
		is_launched = true
		_wire = WireKind.GODOT_RL
		_port = asked_port.to_int()
	else:
		_read_server(OS.get_environment("GODOJO_SERVER"))
	var patience: String = OS.get_environment("GODOJO_PATIENCE_S")
	if patience.is_valid_float():
		patience_s = clampf(patience.to_float(), 0.1, 1e6)
	_give_up_us = Time.get_ticks_usec() + int(minf(LAUNCH_PATIENCE_S, patience_s) * 1e6)


## Keeps calling; [member link] is set when a trainer has answered.
func dial() -> void:
	var now_us: int = Time.get_ticks_usec()
	if _calling == null:
		if now_us < _next_call_us:
			return
		_next_call_us = now_us + int(pause_s * 1e6)
		_begin_call()
	_calling.poll()
	if _calling.state == DojoLink.LinkState.OPEN:
		link = _calling
		_calling = null
	elif _calling.state == DojoLink.LinkState.LOST:
		trouble = _calling.trouble
		_calling = null


## Takes over where the environment says that a server is.
func _read_server(place: String) -> void:
	is_off = place == "off"
	var asked_port: String = place.get_slice(":", place.get_slice_count(":") - 1)
	if asked_port.is_valid_int():
		_port = asked_port.to_int()
		var asked_host: String = place.trim_suffix(asked_port).trim_suffix(":")
		_host = asked_host if not asked_host.is_empty() else _host


## Whether a launched game has looked long enough.
func has_given_up() -> bool:
	return is_launched and link == null and Time.get_ticks_usec() > _give_up_us


## Where it calls, for people.
func address() -> String:
	return "%s:%d" % [_host, _port]


func _begin_call() -> void:
	var is_godot_rl: bool = (
		_wire == WireKind.GODOT_RL or (_wire == WireKind.ANY and _calls % 2 == 1)
	)
	_calls += 1
	if is_godot_rl:
		_calling = DojoGodotRlLink.new()
		_calling.call_trainer(_host, GODOT_RL_PORT if _wire == WireKind.ANY else _port, _greeting)
	else:
		_calling = DojoSocket.new()
		_calling.call_trainer(_host, _port, _greeting)


## The port in a word [code]--port=[/code], with which godot_rl launches games.
static func _command_line_port() -> String:
	for word in OS.get_cmdline_args() + OS.get_cmdline_user_args():
		if word.begins_with("--port="):
			return word.trim_prefix("--port=")
	return ""
