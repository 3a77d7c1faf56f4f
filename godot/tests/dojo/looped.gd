extends Node
## Drives a training as a script or a button would: stops it after two epochs, starts it again, and
## quits after four. Prints what people are shown.

const SCENE: PackedScene = preload("res://games/cat_and_mouse/cat_and_mouse.tscn")

var _stops: int = 0
var _loop: DojoTrainingLoop


func _ready() -> void:
	var game: Node = SCENE.instantiate()
	add_child(game)
	_loop = game.get_node(^"DojoTrainingLoop")
	_loop.epoch_began.connect(_on_epoch)
	_loop.stopped.connect(_on_stopped)
	var sync: DojoSync = game.get_node(^"DojoSync")
	sync.training_reported.connect(_print)


func _on_epoch(epoch: int) -> void:
	if epoch == 2 + 2 * _stops:
		_loop.stop()


func _on_stopped() -> void:
	_stops += 1
	print("@ stopped after %d epochs" % (_loop.epoch))
	if _stops == 1:
		_loop.start()
	else:
		get_tree().quit()


func _print(status: DojoTrainingStatus) -> void:
	print("@ %s %d %s" % [status.phase, status.epoch, "+".join(status.learns)])
