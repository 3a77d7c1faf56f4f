extends Node2D
## Cat and mouse take turns learning: the scene drives its own training. Esc quits.

@onready var _loop: DojoTrainingLoop = $DojoTrainingLoop
@onready var _button: Button = %Toggle


func _ready() -> void:
	_button.pressed.connect(_toggle)
	for changed: Signal in [_loop.started, _loop.stopped]:
		changed.connect(_show)
	_show()


func _unhandled_input(event: InputEvent) -> void:
	if event.is_action_pressed(&"ui_cancel"):
		get_tree().quit()


func _toggle() -> void:
	if _loop.running:
		_loop.stop()
	else:
		_loop.start()
	_show()


func _show() -> void:
	_button.text = "Stop training" if _loop.running else "Start training"
	if _loop.is_stopping():
		_button.text = "Start again (stops after this epoch)"
