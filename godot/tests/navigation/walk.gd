extends SceneTree
## Plays rounds of the scene of navigation and prints how each ended and how far the walker came.
##
## [codeblock]
## godot --headless --fixed-fps 60 --script res://tests/navigation/walk.gd -- ROUNDS [options]
## [/codeblock]


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	var packed: PackedScene = load("res://games/navigation/navigation.tscn")
	var scene: NavigationScene = packed.instantiate()
	scene.arguments = words.slice(1)
	root.add_child.call_deferred(scene)
	for _round in words[0].to_int():
		while scene.world == null or scene.world.round_over:
			await physics_frame
		var start: Vector3 = scene.world.walker.feet()
		while not scene.world.round_over:
			await physics_frame
		var away: Vector3 = scene.world.walker.feet() - start
		print("%s %.2f m" % [scene.world.winner, Vector2(away.x, away.z).length()])
	quit()
