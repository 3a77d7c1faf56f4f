class_name DojoWorlds
extends Node
## All worlds of this process, played together: what a [DojoSync] drives.
##
## Scenes made of [DojoAgent] nodes need none of this: [DojoSceneWorlds] plays them. A game with a
## way of its own to play many worlds at once extends this class and puts the node below its
## [DojoSync] (or names it in [member DojoSync.worlds]).
## [br][br]
## The order of calls is: [method configure], then [method describe], then [method reset] in a later
## physics frame, so that new bodies are in the engine's space. Then for every decision
## [method act], the ticks, [method collect]. [method reset] may come again at any time, and
## [method configure] when another trainer has called.

## Whether [method advance] plays the ticks of a decision. If not, the engine does: a decision is
## then as many physics frames as it has ticks.
var advances_itself: bool = false
## Whether the worlds stand still by themselves from [method collect] to [method act]. If not, a
## game with a window is paused while its trainer computes.
var stands_still_itself: bool = false
## How many worlds there are, if [method configure] refused another number; 0 where any will do.
var fixed_count: int = 0
## A sentence on why the worlds cannot go on, looked at after each [method collect]; empty while
## they can.
var trouble: String = ""


## Makes the worlds. [param request] has [code]worlds[/code] (int, at least 1),
## [code]ticks_per_decision[/code] (int; null where the trainer leaves it to the game and
## [DojoSync]'s own does not apply) and [code]options[/code] (Dictionary: the game's own, sent by
## the trainer, to be checked like anything from outside). [code]truth[/code] (bool, may be missing)
## asks for what no eyes see.
## Returns an error message, or an empty text.
func configure(_request: Dictionary) -> String:
	return "%s does not say how its worlds are made" % name


## The worlds' description for the trainer. Keys:
## [br]- [code]roles[/code]: Array of Dictionary with [code]name[/code], [code]agents[/code] (of one
## world), [code]observation[/code] and [code]action[/code], see [DojoObservationLayout], and
## [code]model[/code] where it declares its own;
## [br]- [code]reward_terms[/code], [code]winners[/code], [code]arenas[/code]: names
## (PackedStringArray or Array); winner 0 is "nobody";
## [br]- [code]model[/code]: what the scene declares, see [method DojoModel.describe], with the path
## of its node as [code]node[/code], or null;
## [br]- [code]truth[/code]: only if it was asked for and the game can tell: what
## [member DojoResults.truth] is made of, as parts of an observation;
## [br]- [code]ticks_per_decision[/code]: int, only if it is not what was asked for.
func describe() -> Dictionary:
	return {}


## Begins a round in every world. The same seed gives the same rounds.
func reset(_seed: int) -> void:
	pass


## Gives every agent its action, in the order of [DojoResults]. The numbers are finite, not
## necessarily within -1 and 1, and a choice is its index as a number.
func act(_actions: PackedFloat32Array) -> void:
	pass


## Plays the ticks of one decision; only where [member advances_itself] is set.
func advance() -> void:
	pass


## Whether the answer to the trainer has to wait although the ticks of the decision are over, for
## example because people are still shown who won.
func holds_answer() -> bool:
	return false


## What the decision brought. Rounds that ended have begun anew when this returns. After
## [method reset] it gives the first observations, with everything else zero.
func collect() -> DojoResults:
	return DojoResults.new()


## One physics frame without a trainer: policies may play, and a person by hand.
func play_by_hand() -> void:
	pass


## The agents that are nodes, in all worlds.
func all_agents() -> Array[DojoAgent]:
	return []


## [member DojoSync.policies] are others now.
func policies_changed() -> void:
	pass


## What agents see and do, for [DojoOverlay].
func views() -> Array[DojoView]:
	return []
