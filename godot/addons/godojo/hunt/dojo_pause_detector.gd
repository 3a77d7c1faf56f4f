class_name DojoPauseDetector
extends RefCounted
## Finds games whose pause and menus have come apart: a scene that begins paused with nothing to be
## done about it, a menu in a pause that it cannot end, and one that stays open while the game goes
## on.

## Decisions for which it must last.
const PATIENCE := 25
# What may end a pause without anything to click.
const _CLOCKS: Array[StringName] = [&"Timer", &"AnimationPlayer"]

var _state: DojoProbeState
var _scene: int = 0
var _was_paused: bool = false
# Whether the scene has been paused since it began.
var _began_paused: bool = false
# Paths of scenes that began as they should.
var _begun: Dictionary[String, bool] = {}
var _shown: Array[Node] = []
# What came into view when the game was paused.
var _menu: Array[Node] = []
var _since: int = 0


func _init(state: DojoProbeState) -> void:
	_state = state


func begin() -> void:
	_scene = 0
	_was_paused = false
	_begun.clear()
	_shown = []
	_menu = []


## [param shown]: the elements that can be used now.
func look(shown: Array[Node]) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	var scene: Node = _state.tree.current_scene
	if scene == null:
		return found
	var is_paused: bool = _state.tree.paused
	if scene.get_instance_id() != _scene:
		_scene = scene.get_instance_id()
		_since = 0
		_menu = []
		_began_paused = is_paused and _begun.has(_state.scene_path())
		if not is_paused:
			_begun[_state.scene_path()] = true
	elif is_paused != _was_paused:
		_since = 0
		if is_paused:
			_menu = shown.filter(func(node: Node) -> bool: return not _shown.has(node))
		_began_paused = _began_paused and is_paused
	_since += 1
	_was_paused = is_paused
	_shown = shown
	if _since == PATIENCE:
		if _began_paused and not _offers_something(shown):
			var message: String = "it begins paused, and nothing goes on"
			found.append(DojoProbeState.event("pause", message, scene))
		elif is_paused and not _menu.is_empty() and not _can_go_on(shown):
			var message: String = "it came with a pause in which it cannot be used"
			found.append(DojoProbeState.event("pause", message, _menu[0]))
		if not is_paused:
			for node in _menu:
				if shown.has(node):
					var message: String = "it paused the game, which goes on behind it"
					found.append(DojoProbeState.event("pause", message, node))
					break
	return found


## Whether anything that works in a paused game is to be seen.
func _offers_something(shown: Array[Node]) -> bool:
	if shown.any(_works):
		return true
	for label in _state.labels:
		if is_instance_valid(label) and label.can_process():
			if label.call(&"is_visible_in_tree"):
				return true
	return false


## Whether an element or a script could end this pause.
func _can_go_on(shown: Array[Node]) -> bool:
	if shown.any(_works):
		return true
	for node in _state.tree.root.find_children("*", "", true, false):
		if not node.can_process():
			continue
		var script: Script = node.get_script()
		if script != null and DojoScriptText.is_own(script):
			return true
		if _CLOCKS.any(func(kind: StringName) -> bool: return node.is_class(kind)):
			return true
	return false


static func _works(element: Node) -> bool:
	return is_instance_valid(element) and element.can_process()
