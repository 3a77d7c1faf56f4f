extends EngineTest
## The performance monitor: what it measures, budgets, and sources that vanish.


class Chunks:
	extends Node
	var count: int = 600

	func active() -> int:
		return count


func test_ticks_are_measured_against_the_budget() -> void:
	var monitor := DojoPerformanceMonitor.new()
	var busy := Node.new()
	busy.set_script(_script("func _physics_process(_delta): OS.delay_usec(100)"))
	add_child(monitor)
	add_child(busy)
	await ticks(3)
	check(monitor.value(&"physics_frame_time_ms") > 0.0, "physics time is above 0")
	check(monitor.value(&"physics_frame_time_ms") < 1000.0, "and without what lies between ticks")
	check_near(monitor.budget(&"physics_frame_time_ms"), 11.11, 1e-6, "budget")
	check(monitor.value(&"node_count") > 1.0, "nodes")
	check(monitor.value(&"static_memory_mb") > 1.0, "memory")
	check(Performance.has_custom_monitor("dojo/physics_frame_time_ms"), "in the debugger")
	check(monitor.percentile(&"node_count", 50.0) <= monitor.maximum(&"node_count"), "percentile")
	busy.free()
	monitor.free()
	check(not Performance.has_custom_monitor("dojo/physics_frame_time_ms"), "and gone with it")


func test_a_slow_tick_is_over_the_budget() -> void:
	var monitor := DojoPerformanceMonitor.new()
	var slow := Node.new()
	slow.set_script(_script("func _physics_process(_delta): OS.delay_msec(30)"))
	add_child(monitor)
	add_child(slow)
	monitor.window = 3
	await ticks(6)
	check(monitor.is_over(&"physics_frame_time_ms"), "over")
	check_equal(monitor.penalty(), -5.0, "penalty")
	check(monitor.measures()["performance/physics_frame_time_ratio"] > 1.0, "mean ratio")
	slow.free()
	await ticks(6)
	check(monitor.measures()["performance/physics_frame_time_max_ms"] >= 30.0, "worst is kept")
	monitor.free()


func test_chunks_are_counted_until_they_vanish() -> void:
	var monitor := DojoPerformanceMonitor.new()
	var chunks := Chunks.new()
	add_child(monitor)
	monitor.add_monitor(&"active_chunk_count", chunks.active)
	monitor.add_monitor(&"nonsense", func() -> String: return "x", 1.0)
	await ticks(3)
	check_near(monitor.ratio(&"active_chunk_count"), 600.0 / 512.0, 1e-4, "ratio")
	check_equal(monitor.value(&"nonsense"), 0.0, "what is no number counts as 0")
	chunks.free()
	await ticks(3)
	check_equal(monitor.value(&"active_chunk_count"), 0.0, "after it vanished")
	monitor.free()


func test_a_budget_of_zero_is_none() -> void:
	var monitor := DojoPerformanceMonitor.new()
	monitor.physics_frame_time_budget_ms = 0.0
	add_child(monitor)
	await ticks(3)
	check_equal(monitor.ratio(&"physics_frame_time_ms"), 0.0, "ratio")
	check_equal(monitor.measures()["performance/physics_frame_time_ratio"], 0.0, "mean ratio")
	check_equal(monitor.penalty(), 0.0, "penalty")
	check_equal(monitor.summary()[&"physics_frame_time_ms"]["budget"], 0.0, "summary")
	check_equal(monitor.ratio(&"never_heard_of"), 0.0, "unknown")
	monitor.free()


static func _script(text: String) -> GDScript:
	var script := GDScript.new()
	script.source_code = "extends Node\n\n\n%s\n" % text
	script.reload()
	return script
