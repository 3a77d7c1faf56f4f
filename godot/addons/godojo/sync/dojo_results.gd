class_name DojoResults
extends RefCounted
## What one decision brought, for all worlds of this process at once.
##
## Everything is in the order of the wire: role after role in the order of the description, within
## a role world after world, within a world agent after agent. With W worlds, role r has n agents,
## D observation numbers; there are T reward terms.

## [member flags]: the agent took part in this decision.
const ACTED := 1
## [member flags]: its round came to an end by the rules.
const TERMINATED := 2
## [member flags]: its round was cut short; the future still had a value.
const TRUNCATED := 4

## Per role W x n x D numbers, one role behind the other: each agent's observation. For an agent
## that has just ended, this is already the new round's.
var observation := PackedFloat32Array()
## Per role W x n x T numbers: what the decision was worth, by term.
var terms := PackedFloat32Array()
## W x K numbers, where [method DojoWorlds.describe] has a [code]truth[/code]: the true state of
## each world, for oracles and judges.
var truth := PackedFloat32Array()
## Per role W x n bytes of [constant ACTED], [constant TERMINATED], [constant TRUNCATED].
var flags := PackedByteArray()
## Four numbers for each world whose round ended: world, winner, length in ticks, arena (-1: one
## that was made for the round).
var ended := PackedInt32Array()
## Per role the rows (world * n + agent) that ended: every agent of a world that ended, and any
## agent that ended alone.
var final_rows: Array[PackedInt32Array] = []
## Per role D numbers for each of its final rows: what that agent saw last.
var final_observation: Array[PackedFloat32Array] = []
## Per role T numbers for each of its final rows: the terms, summed over the round.
var final_terms: Array[PackedFloat32Array] = []
## Per role one number for each of its final rows: the game's own score.
var final_score: Array[PackedFloat32Array] = []
## Per role M numbers for each of its final rows, where its description has [code]measures[/code];
## NaN where there is nothing to report.
var final_measures: Array[PackedFloat32Array] = []


## Results of worlds with this many roles, in which nothing has ended.
func _init(roles: int = 0) -> void:
	final_rows.resize(roles)
	final_observation.resize(roles)
	final_terms.resize(roles)
	final_score.resize(roles)
	final_measures.resize(roles)
	clear_ends()


## Forgets which worlds and agents ended; the other arrays are left to be written over.
func clear_ends() -> void:
	ended = PackedInt32Array()
	for role in final_rows.size():
		final_rows[role] = PackedInt32Array()
		final_observation[role] = PackedFloat32Array()
		final_terms[role] = PackedFloat32Array()
		final_score[role] = PackedFloat32Array()
		final_measures[role] = PackedFloat32Array()
