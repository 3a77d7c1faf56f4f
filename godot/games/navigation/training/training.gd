extends Node3D
## The scene a trainer plays: many walks at once and as fast as can be, so there is little to see.

@onready var _sync: DojoSync = $DojoSync
@onready var _words: Label = $Words


func _ready() -> void:
	_say("waiting for a trainer on port %d" % _sync.port)
	_sync.connected.connect(_say.bind("a trainer is here"))
	_sync.disconnected.connect(
		func(reason: String) -> void:
			_say("waiting for a trainer on port %d (%s)" % [_sync.port, reason])
	)
	_sync.trainer_said.connect(_say)


func _say(what: String) -> void:
	_words.text = "Navigation, for trainers: %s.\nTo walk, open games/navigation." % what
