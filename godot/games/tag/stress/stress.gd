extends SceneTree
## Plays many rounds of hostile random play over all arenas and counts what must not happen.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://games/tag/stress/stress.gd --
## --rounds=1000
## [/codeblock]
## Options: [code]--rounds=N[/code], [code]--seed=N[/code], [code]--arena=NAME or FILE[/code].
## Prints a table; exits with 1 when anything went through a wall, out of the room, got stuck or was
## not a number.

## What the rounds are played with, one after the other: overrides to the default settings.
const VARIANTS: PackedStringArray = [
	"",
	(
		"motion.seeker_speed_mps=26 motion.hider_speed_mps=24"
		+ " motion.ground_acceleration_mps2=160 motion.air_acceleration_mps2=60"
	),
	"rules.seekers=2 rules.hiders=6 rules.round_s=5",
	(
		"rules.mode=classic rules.players=8 rules.classic_round_s=5 motion.jump_speed_mps=32"
		+ " motion.seeker_speed_mps=26 motion.hider_speed_mps=24"
		+ " motion.ground_acceleration_mps2=1000"
	),
	"rules.mode=classic rules.players=3 rules.classic_round_s=10 body.size_m=0.6",
	"motion.gravity_mps2=96 motion.jump_speed_mps=16 motion.fall_speed_mps=60",
]
## Ticks between questions to the engine.
const ENGINE_EVERY := 15

var _rounds: int = 1000
var _seed: int = 1
var _names: PackedStringArray = ArenaData.HAND_MADE


func _initialize() -> void:
	for word in OS.get_cmdline_user_args():
		var value: String = word.get_slice("=", 1)
		if word.begins_with("--rounds=") and value.is_valid_int():
			_rounds = value.to_int()
		elif word.begins_with("--seed=") and value.is_valid_int():
			_seed = value.to_int()
		elif word.begins_with("--arena="):
			_names = [value]
		else:
			print("unknown option %s; options: --rounds=N --seed=N --arena=NAME" % word)
			quit(2)
			return
	_run.call_deferred()


func _run() -> void:
	var started_ms: int = Time.get_ticks_msec()
	var clean: bool = true
	print("arena       rounds    ticks  agent ticks  deepest mm  overlaps  out  NaN  stuck  tags")
	for place in _names.size():
		var share: int = (_rounds * (place + 1)) / _names.size() - (_rounds * place) / _names.size()
		clean = await _play_arena(_names[place], share) and clean
	print(
		(
			"%s, %.1f s"
			% ["clean" if clean else "VIOLATED", (Time.get_ticks_msec() - started_ms) / 1000.0]
		)
	)
	quit(0 if clean else 1)


func _play_arena(arena_name: String, rounds: int) -> bool:
	var is_file: bool = arena_name.ends_with(".json")
	var arena: ArenaData = (
		ArenaData.load_file(arena_name) if is_file else ArenaData.load_named(arena_name)
	)
	if not arena.error.is_empty():
		print(arena.error)
		return false
	var judge := StressJudge.new()
	var tags: Array[int] = [0]
	var total_ticks: int = 0
	var worlds: Array[TagWorld] = _make_worlds(arena)
	for world in worlds:
		world.tagged.connect(func(_seeker: TagAgent, _hider: TagAgent) -> void: tags[0] += 1)
	for played in rounds:
		await physics_frame
		var world: TagWorld = worlds[played % worlds.size()]
		total_ticks += _play_round(world, judge)
	for world in worlds:
		world.queue_free()
	print(
		(
			"%-11s %6d %8d %12d %11.3f %9d %4d %4d %6d %5d"
			% [
				arena.name,
				rounds,
				total_ticks,
				judge.agent_ticks,
				judge.deepest_m * 1000.0,
				judge.engine_overlaps,
				judge.falls_out,
				judge.nans,
				judge.stuck,
				tags[0],
			]
		)
	)
	return judge.is_clean()


func _play_round(world: TagWorld, judge: StressJudge) -> int:
	world.reset()
	judge.begin_round(world)
	var players: Array[HostilePlayer] = []
	for _agent in world.agents:
		players.append(HostilePlayer.new(world.rng))
	while not world.round_over:
		for agent in world.agents:
			players[agent.index].play(world, agent)
		world.tick()
		judge.watch(world)
		if world.tick_number % ENGINE_EVERY == 0:
			judge.ask_engine(world)
	return world.tick_number


## One world for each variant, side by side.
func _make_worlds(arena: ArenaData) -> Array[TagWorld]:
	var worlds: Array[TagWorld] = []
	for variant in VARIANTS:
		var settings: TagSettings = TagSettings.load_defaults()
		for override in variant.split(" ", false):
			var complaint: String = settings.apply_override(override)
			assert(complaint.is_empty(), complaint)
		var world := TagWorld.new()
		world.position.x = worlds.size() * (arena.size_m.x + 10.0)
		root.add_child(world)
		world.configure(settings, arena, _seed + worlds.size())
		worlds.append(world)
	return worlds
