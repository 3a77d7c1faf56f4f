extends Node
## The example game as a person starts it; a word after [code]--[/code] is the trainer's port.


func _ready() -> void:
	var scene: PackedScene = load("res://games/first_agent/first_agent.tscn")
	var game: Node = scene.instantiate()
	var sync: DojoSync = game.get_node("DojoSync")
	sync.wire = DojoConnector.WireKind.DOJO
	sync.port = OS.get_cmdline_user_args()[0].to_int()
	sync.trainer_said.connect(func(text: String) -> void: print("heard: ", text))
	add_child(game)
