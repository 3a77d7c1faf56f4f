extends Node
## Runs the main scene as the editor does, prints what its panel shows, and quits after a training.

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")


func _ready() -> void:
	var game: Node = SCENE.instantiate()
	add_child(game)
	var sync: DojoSync = game.get_node(^"Training/DojoSync")
	sync.training_reported.connect(_print)


func _print(status: DojoTrainingStatus) -> void:
	var learns: String = "+".join(status.learns)
	var points: int = status.curve_s.size()
	print("@ %s %s %d %d %s" % [status.phase, learns, status.episode, points, status.win_rates])
	if status.phase == "done training":
		get_tree().quit()
