@icon("res://addons/godojo/icons/dojo_sync.svg")
class_name DojoTrainingPanel
extends CanvasLayer
## Shows in a corner what the trainer of a [DojoSync] does: epoch and phase, who learns, rounds, win
## rates or rewards with their curve, and speed. Without one, a line says how to start one.

## The node that looks for a trainer.
@export var sync: DojoSync
## What starts a server.
@export var command: String = "python3 dojo.py serve --train"
## Colours of roles, by name; others get one from [constant DojoTrainingSheet.COLORS].
@export var colors: Dictionary[String, Color] = {}

var _sheet := DojoTrainingSheet.new()


func _ready() -> void:
	layer = 50
	set_process(DisplayServer.get_name() != "headless")
	_sheet.mouse_filter = Control.MOUSE_FILTER_IGNORE
	_sheet.colors = colors
	add_child(_sheet)
	sync.unanswered.connect(_on_unanswered)
	sync.connected.connect(_on_connected)
	sync.disconnected.connect(_on_disconnected)
	sync.trainer_said.connect(_on_said)
	sync.training_reported.connect(_on_reported)


func _process(_delta: float) -> void:
	_sheet.queue_redraw()


## The line that is shown; empty while there is a status instead.
func shown_line() -> String:
	return _sheet.line if _sheet.status == null else ""


## The status that is shown; null while there is a line instead.
func shown_status() -> DojoTrainingStatus:
	return _sheet.status


func _on_unanswered() -> void:
	if _sheet.line.is_empty():
		_say("No training server at %s." % sync.address())


func _on_connected() -> void:
	_sheet.line = "Connected to the server at %s" % sync.address()


func _on_disconnected(reason: String) -> void:
	if sync.loop != null and not sync.loop.running:
		_sheet.line = "Training is stopped; its run is saved."
		return
	_say("The server has left: %s." % reason.left(60).trim_suffix("."))


func _on_said(text: String) -> void:
	_sheet.line = text.left(100)


func _on_reported(status: DojoTrainingStatus) -> void:
	_sheet.status = status


func _say(what: String) -> void:
	_sheet.status = null
	_sheet.line = "%s To watch learning: %s" % [what, command]
	print("Godojo: %s" % _sheet.line)
