class_name TagStyle
extends RefCounted
## The palette and the proportions of the tag look, in one place.
##
## The arena keeps to muted dojo colours (straw mats, ink, celadon, clay), so that the agents are
## the only saturated things on screen. Orange and blue stay apart for every kind of colour
## blindness, and differ in lightness, so that they stay apart in grey as well.

## A seeker, or "it".
const SEEKER := Color("ff7810")
## A hider, or a player who is not "it".
const HIDER := Color("1b55d8")
## The hider's colour for letters on a dark ground.
const HIDER_LETTERS := Color("7fb0ff")
## Letters and the whites of eyes.
const PAPER := Color("fff8ec")
## Pupils, shadows behind letters.
const INK := Color("171a26")
## The void around the arena.
const BACKDROP := Color("20263a")
## The light that spills from the arena onto the void.
const BACKDROP_GLOW := Color("4a4c62")
## The mats of the floor, two shades.
const FLOOR := Color("d9cdb4")
## The second shade of the mats.
const FLOOR_OTHER := Color("d1c4a9")
## What feet stir up.
const DUST := Color("f4ead6")
## The seams between mats.
const SEAM := Color("a3977c")
## The outer walls.
const WALL := Color("8d8078")
## Blocks by kind.
const BLOCKS: Dictionary[StringName, Color] = {
	&"tall": Color("5d5a74"),
	&"low": Color("93b09c"),
	&"platform": Color("b2948a"),
}

## The outer walls are shown this thick.
const WALL_THICKNESS_M: float = 0.4
## What is left of an outer wall that stands between the camera and the arena.
const CURB_HEIGHT_M: float = 0.22
## How round the edges of blocks are.
const BLOCK_RADIUS_M: float = 0.07

## Widest half width of an agent's look, as a fraction of its collider's half size. With the
## corner below it fits into the collider at every heading: (0.8 - 0.38) * sqrt(2) + 0.38 = 0.974,
## and leaves room for eyes.
const BODY_HALF_WIDTH: float = 0.8
## Radius of an agent's rounded edges, same unit.
const BODY_RADIUS: float = 0.38
## Height of an agent's look at rest, as a fraction of its collider's size.
const BODY_REST_HEIGHT: float = 0.84


## The colour of an agent.
static func agent_color(hunts: bool) -> Color:
	return SEEKER if hunts else HIDER


## The colour of a block; kinds this palette does not know look like tall ones.
static func block_color(kind: StringName) -> Color:
	return BLOCKS.get(kind, BLOCKS[&"tall"])
