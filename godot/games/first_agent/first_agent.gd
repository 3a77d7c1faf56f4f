extends Node3D
## The example game: shows how it goes, by hand or with a trainer. Esc quits.

var _gems: int = 0
var _rounds: int = 0

@onready var _sync: DojoSync = $DojoSync
@onready var _score: Label = %Score
@onready var _status: Label = %Status


func _ready() -> void:
	_sync.connected.connect(_show_status)
	_sync.disconnected.connect(_show_status.unbind(1))
	_sync.trainer_said.connect(_show_status.unbind(1))
	get_tree().node_added.connect(_watch)
	_show_status()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _watch(node: Node) -> void:
	var agent: DojoAgent = node as DojoAgent
	if agent != null:
		agent.round_ended.connect(_count.bind(agent))


func _count(agent: DojoAgent) -> void:
	_rounds += 1
	_gems += 1 if agent.current.has_won else 0
	_score.text = "%d of %d gems" % [_gems, _rounds]


func _show_status() -> void:
	if _sync.is_trained():
		_status.text = "A trainer plays. " + _sync.notice
	else:
		_status.text = (
			"Arrow keys roll the ball. A trainer is called at %s:%d." % [_sync.host, _sync.port]
		)
