class_name EngineTest
extends Node
## What every test in the real engine extends.
##
## A test is a method whose name starts with [code]test_[/code]; it may await. A failed check is
## noted and the test goes on, so that one run shows all that is wrong. A test that checks nothing
## fails.

var _checks: int = 0
var _failures: PackedStringArray = []


## Notes a failure with [param complaint] unless [param holds].
func check(holds: bool, complaint: String) -> void:
	_checks += 1
	if not holds:
		_failures.append(complaint)


## Checks that [param actual] is what was [param expected].
func check_equal(actual: Variant, expected: Variant, what: String) -> void:
	check(actual == expected, "%s: expected %s, got %s" % [what, expected, actual])


## Checks that [param actual] lies within [param tolerance] of [param expected]; NaN never does.
func check_near(actual: float, expected: float, tolerance: float, what: String) -> void:
	var near: bool = absf(actual - expected) <= tolerance
	check(near, "%s: expected %f within %f, got %f" % [what, expected, tolerance, actual])


## How often a long test repeats what it does: [param nightly] in a run at full length.
func repeats(gate: int, nightly: int) -> int:
	return nightly if OS.get_environment("GODOJO_NIGHTLY") == "1" else gate


## Waits until [param count] physics ticks have passed.
func ticks(count: int) -> void:
	for _tick in count:
		await get_tree().physics_frame


## What went wrong, one line each; empty when the test passed.
func complaints() -> PackedStringArray:
	if _checks == 0:
		return ["the test checked nothing"]
	return _failures
