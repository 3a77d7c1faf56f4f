class_name DojoSignalDetector
extends RefCounted
## Finds signals that somebody forgot to connect.
##
## One is a handler, a method [code]_on_…[/code] that does something, which no signal is connected
## to and no script or scene mentions. The other is a signal that is emitted and that nobody hears,
## although that of most other nodes with the same script is heard.

## Ticks after which everything should be connected.
const PATIENCE := 60
const _MOST := 256
const _MOST_WAITING := 512

var _waiting: Dictionary[Node, int] = {}
# By script and signal: by the id of each node that has emitted it, whether it was ever heard.
var _heard: Dictionary[String, Dictionary] = {}
var _events: Array[Dictionary] = []
# By script: its own signals and the number of their arguments.
var _signals: Dictionary[Script, Dictionary] = {}
var _checked: Dictionary[Script, bool] = {}
var _ticks: int = 0


func begin() -> void:
	_waiting.clear()
	_heard.clear()
	_events.clear()
	_checked.clear()
	_ticks = 0


func add(node: Node) -> void:
	var script: Script = node.get_script()
	if script == null or not DojoScriptText.is_own(script) or _waiting.size() >= _MOST_WAITING:
		return
	_waiting[node] = _ticks
	for signal_name: StringName in _signals_of(script):
		var listener: Callable = _note.bind(node, signal_name)
		var arguments: int = _signals_of(script)[signal_name]
		if arguments > 0:
			listener = listener.unbind(arguments)
		if not node.is_connected(signal_name, listener):
			node.connect(signal_name, listener)


func remove(node: Node) -> void:
	_waiting.erase(node)


## What was found since the last call.
func look() -> Array[Dictionary]:
	_ticks = Engine.get_physics_frames()
	for node: Node in _waiting.keys():
		if not is_instance_valid(node) or not node.is_inside_tree():
			_waiting.erase(node)
		elif _waiting[node] == 0:
			_waiting[node] = _ticks
		elif _ticks - _waiting[node] > PATIENCE:
			_waiting.erase(node)
			_look_for_handlers(node)
	var found: Array[Dictionary] = _events
	_events = []
	return found


## A signal was emitted; [param node] and its name come last.
func _note(node: Node, signal_name: StringName) -> void:
	var script: Script = node.get_script()
	var key: String = "%s:%s" % [script.resource_path, signal_name]
	var is_heard: bool = DojoScriptText.listeners(node, signal_name) > 0
	if not _heard.has(key):
		if _heard.size() >= _MOST:
			return
		_heard[key] = {}
	var nodes: Dictionary = _heard[key]
	var id: int = node.get_instance_id()
	nodes[id] = is_heard or nodes.get(id, false)
	var heard: int = nodes.values().count(true)
	if not nodes[id] and heard >= 2 and heard * 2 > nodes.size():
		var message: String = "nobody hears its signal %s" % signal_name
		_events.append(DojoProbeState.event("dropped_signal", message, node))


func _look_for_handlers(node: Node) -> void:
	var script: Script = node.get_script()
	if _checked.has(script):
		return
	_checked[script] = true
	var connected: Dictionary[StringName, bool] = {}
	for connection in node.get_incoming_connections():
		connected[(connection["callable"] as Callable).get_method()] = true
	for method in DojoScriptText.handlers(script):
		if not connected.has(StringName(method)) and DojoScriptText.mentions(method) <= 1:
			var message: String = "no signal is connected to %s" % method
			_events.append(DojoProbeState.event("dropped_signal", message, node))


func _signals_of(script: Script) -> Dictionary:
	if not _signals.has(script):
		var found: Dictionary = {}
		for description in script.get_script_signal_list():
			found[StringName(description["name"])] = (description["args"] as Array).size()
		_signals[script] = found
	return _signals[script]
