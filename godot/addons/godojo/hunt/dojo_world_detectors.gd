class_name DojoWorldDetectors
extends RefCounted
## Detectors of a hunted game that need the scene: bodies and invariants.
##
## An event is a Dictionary with [code]detector[/code], [code]message[/code], [code]node[/code] and
## [code]position[/code]; [code]pattern[/code] replaces the message where it is compared.

var _state: DojoProbeState
var _settings: Dictionary = {}


## [param settings]: JSON with what Python's [code]DetectorSettings[/code] have.
func _init(state: DojoProbeState, settings: String) -> void:
	_state = state
	var parsed: Variant = JSON.parse_string(settings) if not settings.is_empty() else null
	if parsed is Dictionary:
		_settings = parsed


## The scene begins anew.
func begin() -> void:
	pass


func add(_node: Node) -> void:
	pass


func remove(_node: Node) -> void:
	pass


## What is looked at in every physics tick.
func look_at_tick() -> Array[Dictionary]:
	return []


## What is looked at once a decision.
func look_at_decision() -> Array[Dictionary]:
	return []
