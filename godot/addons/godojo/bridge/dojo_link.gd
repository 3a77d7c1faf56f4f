class_name DojoLink
extends RefCounted
## A line to a trainer, whatever it speaks: what [DojoSync] needs of it.
##
## A link calls a trainer, hands its messages over one at a time, and carries answers back. It
## checks everything that comes in; a trainer that breaks the rules is hung up on, with the reason
## in [member trouble]. Nothing it does prints an error.
## [br][br]
## Messages are Dictionaries with a [code]type[/code]:
## [br]- [code]configure[/code]: [code]worlds[/code] (int), [code]ticks_per_decision[/code] (int or
## null), [code]options[/code] (Dictionary), [code]truth[/code] (bool); answered by
## [method send_ready];
## [br]- [code]reset[/code]: [code]seed[/code] (int); answered by [method send_step];
## [br]- [code]act[/code]: [code]actions[/code] (PackedFloat32Array, of the right size, finite);
## answered by [method send_step];
## [br]- [code]epoch[/code]: [code]epoch[/code] (int), only where the description has a
## [code]loop[/code]; answered by [method send_plan];
## [br]- [code]notice[/code]: [code]text[/code]; what the trainer is doing; may have a
## [code]status[/code] (Dictionary, see [DojoTrainingStatus]); no answer;
## [br]- [code]close[/code]: [code]reason[/code]; the trainer is about to leave; no answer.
## [br]Any other trouble ends the link instead.

enum LinkState {
	## It has not called anybody.
	IDLE,
	## It has called and waits for an answer.
	CALLING,
	## A trainer is connected.
	OPEN,
	## It is over; [member trouble] says why.
	LOST,
}

## The longest text or list of bytes a trainer may send, in bytes.
const MAX_MESSAGE := 16 << 20
## Waits that are usually shorter than this many microseconds are spent without sleeping.
const AWAKE_US := 150
const _SHORTEST_NAP_US := 30
const _LONGEST_NAP_US := 1000

## How things stand; changed by [method poll].
var state: LinkState = LinkState.IDLE
## Why the link is [constant LinkState.LOST], in a sentence.
var trouble: String = ""

var _last_waits_us := PackedInt64Array([0, 0])


## Starts to call. [param greeting] says who calls: [code]game[/code], [code]godot[/code],
## [code]addon[/code], [code]token[/code].
func call_trainer(_host: String, _port: int, _greeting: Dictionary) -> void:
	lose("this link cannot call anybody")


## Moves bytes both ways without waiting, and brings [member state] up to date.
func poll() -> void:
	pass


## The next message that has arrived, or an empty Dictionary. Does not wait; calls no [method poll].
func next_message() -> Dictionary:
	return {}


## Tells the trainer what the worlds are: [method DojoWorlds.describe] with
## [code]worlds[/code] and [code]ticks_per_decision[/code] filled in.
func send_ready(_description: Dictionary) -> void:
	pass


## Answers the last [code]reset[/code] or [code]act[/code].
func send_step(_results: DojoResults) -> void:
	pass


## Answers an [code]epoch[/code]: what [method DojoTrainingLoop.plan] says.
func send_plan(_plan: Dictionary) -> void:
	pass


## Tells the trainer why the game cannot go on; [param _worlds] is how many worlds it has, if it was
## asked for another number.
func send_error(_message: String, _worlds: int = 0) -> void:
	pass


## Ends the call in good order.
func hang_up(_reason: String) -> void:
	pass


## The next message, waiting for it at most [param patience_us] microseconds; an empty Dictionary if
## none came or the link was lost.
func wait_for_message(patience_us: int) -> Dictionary:
	var started_us: int = Time.get_ticks_usec()
	var waited_us: int = -1
	while true:
		# What has come is dealt with before more is let in: nobody can flood the game.
		var message: Dictionary = next_message()
		if not message.is_empty() or state != LinkState.OPEN or waited_us >= patience_us:
			_last_waits_us = [_last_waits_us[1], waited_us]
			return message
		var nap_us: int = _nap_us(waited_us)
		if nap_us > 0:
			OS.delay_usec(nap_us)
		poll()
		waited_us = Time.get_ticks_usec() - started_us
	return {}


## How long to sleep before the next poll. Waits are alike, except when the trainer updates; one
## sleep covers most of a usual wait, so that other games get the processor.
func _nap_us(waited_us: int) -> int:
	var usual_us: int = mini(_last_waits_us[0], _last_waits_us[1])
	if maxi(waited_us, usual_us) < AWAKE_US:
		return 0
	var nap_us: int = maxi(usual_us - (usual_us >> 2) - waited_us, waited_us >> 4)
	return clampi(nap_us, _SHORTEST_NAP_US, _LONGEST_NAP_US)


## Ends the link for [param reason]; the first reason is kept.
func lose(reason: String) -> void:
	if state != LinkState.LOST:
		state = LinkState.LOST
		trouble = reason
