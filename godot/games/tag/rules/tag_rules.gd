class_name TagRules
extends RefCounted
## What a way of playing tag has to answer. The world asks; rules never move anybody.


## The rules that [param settings] ask for.
static func make(settings: TagSettings) -> TagRules:
	return ClassicTag.new() if settings.rules.mode == &"classic" else HideAndSeek.new()


## The role of each agent, in order.
func roles(_settings: TagSettings) -> Array[StringName]:
	return []


## Length of a round.
func round_s(settings: TagSettings) -> float:
	return settings.rules.round_s


## Called before agents are placed: who chases, whose score is what.
func begin_round(_world: TagWorld) -> void:
	pass


## Whether a touch of these two is a tag by [param chaser].
func can_tag(chaser: TagAgent, other: TagAgent) -> bool:
	return chaser.active and other.active and chaser.is_seeker_like and not other.is_seeker_like


## Changes both parties after a tag.
func apply_tag(_world: TagWorld, _chaser: TagAgent, _caught: TagAgent) -> void:
	pass


## Called every tick after tags: scores and counters. Returns whether nothing is left to play for.
func after_tick(_world: TagWorld) -> bool:
	return false


## Who won, when the round is over.
func winner(_world: TagWorld) -> StringName:
	return &""


## Which agent won, where one alone can; otherwise -1.
func winner_index(_world: TagWorld) -> int:
	return -1
