class_name TagStyle
extends RefCounted
## Tag's own colours. Orange and blue stay apart for every kind of colour blindness, and differ in
## lightness, so that they stay apart in grey as well.

## A seeker, or "it".
const SEEKER := Color("ff7810")
## A hider, or a player who runs from "it".
const HIDER := Color("1b55d8")


## The colour of an agent.
static func agent_color(hunts: bool) -> Color:
	return SEEKER if hunts else HIDER
