extends EngineTest
## The playable scene of landing.

const SCENE := "res://games/landing/landing.tscn"


func test_a_craft_left_alone_falls_at_ninety_ticks_a_second() -> void:
	var game: LandingScene = _opened(["--seed=1", "--camera=overview", "--set=start.sink_mps=0"])
	check_equal(Engine.physics_ticks_per_second, 90, "ticks per second")
	await ticks(20)
	var pilot: LanderPilot = game.worlds.all_agents()[0]
	var before: int = pilot.ticks
	var speed_mps: float = pilot.lander.velocity.y
	await ticks(45)
	check_equal(pilot.ticks - before, 45, "ticks passed")
	check_near(pilot.lander.velocity.y - speed_mps, -0.81, 0.001, "speed gained in half a second")
	check(pilot.lander.fuel_left() == 1.0, "fuel was burnt")
	game.queue_free()
	await ticks(2)
	check_equal(Engine.physics_ticks_per_second, 60, "ticks per second afterwards")


func test_keys_that_say_nothing_give_no_thrust() -> void:
	var game: LandingScene = _opened([])
	await ticks(3)
	var pilot: LanderPilot = game.worlds.all_agents()[0]
	check_equal(pilot.human_action(), LanderPilot.REST, "action")
	pilot.apply_action(LanderPilot.REST)
	check_equal(pilot.lander.thrust, Vector3.ZERO, "thrust at rest")
	pilot.apply_action([0.0, 0.0, 0.0, 0.0, 0.0])
	check_equal(pilot.lander.thrust, Vector3(0.0, 0.5, 0.0), "thrust in the middle of the range")
	pilot.apply_action([1.0, -1.0, 1.0, 0.5, 0.0])
	check_near(pilot.lander.thrust.length(), 1.0, 1e-6, "thrust is limited")
	check_equal(pilot.lander.thrust.y, 0.0, "no thrust downwards")
	check_equal(pilot.lander.torque, Vector3(250.0, 0.0, 0.0), "torque")
	game.queue_free()
	await ticks(2)


func test_missing_the_ground_is_a_crash() -> void:
	var game: LandingScene = _opened([])
	await ticks(3)
	var pilot: LanderPilot = game.worlds.all_agents()[0]
	pilot.lander.begin(Vector3(600.0, -8.0, 0.0), Vector3(0.0, -40.0, 0.0))
	while not pilot.is_over() and pilot.ticks < 60:
		await ticks(1)
	check_equal(LanderPilot.OUTCOMES[pilot.outcome], "crash", "outcome")
	game.queue_free()
	await ticks(2)


func _opened(arguments: PackedStringArray) -> LandingScene:
	var game: LandingScene = (load(SCENE) as PackedScene).instantiate()
	game.arguments = arguments
	(game.get_node("DojoSync") as DojoSync).mode = DojoSync.Mode.HUMAN
	add_child(game)
	return game
