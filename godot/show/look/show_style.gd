class_name ShowStyle
extends RefCounted
## The palette and the proportions that all games share.
##
## Arenas keep to muted dojo colours (straw mats, ink, celadon, clay), so that agents and marks are
## the only saturated things on screen.

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
const FLOOR_OTHER := Color("d1c4a9")
## The seams between mats.
const SEAM := Color("a3977c")
## What feet stir up.
const DUST := Color("f4ead6")
## The outer walls.
const WALL := Color("8d8078")
## Boxes by kind.
const BLOCKS: Dictionary[StringName, Color] = {
	&"tall": Color("5d5a74"),
	&"low": Color("93b09c"),
	&"platform": Color("b2948a"),
	&"floor": FLOOR,
	&"bridge": Color("b98a58"),
	&"step": Color("c4a99c"),
	&"wall": WALL,
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
## Darker colours than this are lightened for letters on a dark ground.
const LETTERS_LUMINANCE: float = 0.5


## The colour of a box; kinds this palette does not know look like tall ones.
static func block_color(kind: StringName) -> Color:
	return BLOCKS.get(kind, BLOCKS[&"tall"])


## [param color] for letters on a dark ground.
static func letter_color(color: Color) -> Color:
	return color.lightened(0.5) if color.get_luminance() < LETTERS_LUMINANCE else color
