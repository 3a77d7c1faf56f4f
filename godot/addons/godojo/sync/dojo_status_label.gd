class_name DojoStatusLabel
extends Label
## Shows whether a trainer is connected, and what it reports.

## The node that connects to the trainer.
@export var sync: DojoSync
## A line below, such as how to play by hand.
@export var hint: String = ""


func _ready() -> void:
	_show("waiting for a trainer on port %d" % sync.port)
	sync.connected.connect(_show.bind("a trainer is connected"))
	sync.disconnected.connect(
		func(reason: String) -> void:
			_show("waiting for a trainer on port %d (%s)" % [sync.port, reason])
	)
	sync.trainer_said.connect(_show)


func _show(status: String) -> void:
	text = "%s\n%s" % [status, hint]
