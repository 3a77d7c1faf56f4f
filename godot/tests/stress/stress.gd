extends SceneTree
## Plays many rounds of hostile random play over all arenas and counts what must not happen.
##
## [codeblock]
## godot --headless --fixed-fps 60 --path godot --script res://tests/stress/stress.gd --
## --rounds=1000
## [/codeblock]
## Options: [code]--rounds=N[/code], [code]--seed=N[/code], [code]--arena=NAME or FILE[/code].
## Prints a table; exits with 1 when anything went through a wall, out of the room, got stuck or was
## not a number, and with 2 when it cannot be played at all. Variants for which an arena has no room
## are named and left out.

## What the rounds are played with, one after the other: overrides to the default settings.
const VARIANTS: PackedStringArray = [
	"",
	(
		"motion.seeker_speed_mps=26 motion.hider_speed_mps=24"
		+ " motion.seeker_acceleration_mps2=160 motion.hider_acceleration_mps2=160"
		+ " motion.air_acceleration_mps2=60"
	),
	"rules.seekers=2 rules.hiders=6 rules.round_s=5",
	(
		"rules.mode=classic rules.players=8 rules.classic_round_s=5 motion.jump_speed_mps=32"
		+ " motion.seeker_speed_mps=26 motion.hider_speed_mps=24"
		+ " motion.seeker_acceleration_mps2=1000 motion.hider_acceleration_mps2=1000"
	),
	"rules.mode=classic rules.players=3 rules.classic_round_s=10 body.size_m=0.6",
	"motion.gravity_mps2=96 motion.jump_speed_mps=16 motion.fall_speed_mps=60",
]
## Ticks between questions to the engine.
const ENGINE_EVERY := 15

var _rounds: int = 1000
var _seed: int = 1
var _names: PackedStringArray = ArenaData.hand_made()


func _initialize() -> void:
	for word in OS.get_cmdline_user_args():
		var complaint: String = _read(word)
		if not complaint.is_empty():
			print(complaint)
			quit(2)
			return
	_run.call_deferred()


func _read(word: String) -> String:
	var option: String = word.get_slice("=", 0)
	var value: String = word.substr(option.length() + 1)
	if option == "--arena" and not value.is_empty():
		_names = [value]
		return ""
	if not option in ["--rounds", "--seed"]:
		return (
			"%s: no such option; options: --rounds=N --seed=N --arena=NAME"
			% DojoUntrustedText.quoted(word)
		)
	if not DojoUntrustedText.is_whole(value):
		return "%s: %s" % [option, DojoUntrustedText.WHOLE % DojoUntrustedText.quoted(value)]
	if option == "--seed":
		_seed = value.to_int()
	elif value.to_int() < 1:
		return "--rounds: must be at least 1, not %s" % value
	else:
		_rounds = value.to_int()
	return ""


func _run() -> void:
	var started_ms: int = Time.get_ticks_msec()
	var clean: bool = true
	var arenas: Array[ArenaData] = []
	for name in _names:
		arenas.append(
			ArenaData.load_file(name) if name.ends_with(".json") else ArenaData.load_named(name)
		)
		if not arenas[-1].error.is_empty():
			print(arenas[-1].error)
			quit(2)
			return
	print("arena       rounds    ticks  agent ticks  deepest mm  overlaps  out  NaN  stuck  tags")
	for place in arenas.size():
		var share: int = (_rounds * (place + 1)) / arenas.size() - (_rounds * place) / arenas.size()
		var worlds: Array[TagWorld] = _make_worlds(arenas[place])
		if worlds.is_empty():
			quit(2)
			return
		clean = await _play_arena(worlds, share) and clean
	print(
		(
			"%s, %.1f s"
			% ["clean" if clean else "VIOLATED", (Time.get_ticks_msec() - started_ms) / 1000.0]
		)
	)
	quit(0 if clean else 1)


func _play_arena(worlds: Array[TagWorld], rounds: int) -> bool:
	var judge := StressJudge.new()
	var tags: Array[int] = [0]
	var total_ticks: int = 0
	for world in worlds:
		world.tagged.connect(func(_seeker: TagAgent, _hider: TagAgent) -> void: tags[0] += 1)
	for played in rounds:
		await physics_frame
		var world: TagWorld = worlds[played % worlds.size()]
		total_ticks += _play_round(world, judge)
	print(
		(
			"%-11s %6d %8d %12d %11.3f %9d %4d %4d %6d %5d"
			% [
				worlds[0].arena.name,
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
	for world in worlds:
		world.queue_free()
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


## One world for each variant that the arena has room for, side by side.
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
		var refusal: String = world.configure(settings, arena, _seed + worlds.size())
		if refusal.is_empty():
			worlds.append(world)
		else:
			print("%s; left out: %s" % [refusal, variant if variant else "the default settings"])
			world.queue_free()
	return worlds
