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

enum State {
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
## How long a wait stays wide awake, in microseconds, before it begins to sleep.
const AWAKE_US := 150

## How things stand; changed by [method poll].
var state: State = State.IDLE
## Why the link is [constant State.LOST], in a sentence.
var trouble: String = ""


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
		if not message.is_empty() or state != State.OPEN or waited_us >= patience_us:
			return message
		# A trainer usually answers at once; one that thinks for long gets the processor.
		if waited_us > 50_000:
			OS.delay_usec(1000)
		elif waited_us > AWAKE_US:
			OS.delay_usec(30)
		poll()
		waited_us = Time.get_ticks_usec() - started_us
	return {}


## Ends the link for [param reason]; the first reason is kept.
func lose(reason: String) -> void:
	if state != State.LOST:
		state = State.LOST
		trouble = reason
