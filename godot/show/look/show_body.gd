class_name ShowBody
extends RefCounted
## What is seen of an agent at a moment: where it is, how it moves and to which team it belongs.

## How much an agent usually glows.
const GLOW: float = 0.12

## Place among the agents of the round.
var index: int
## Name for people, written above it.
var title: String
## Of its team.
var color := Color.WHITE
## Middle of its collider, in world space.
var middle: Vector3
## Metres a second.
var velocity: Vector3
## Forward is [code](sin h, 0, cos h)[/code].
var heading_rad: float
var grounded: bool = true
## Whether it takes part; an agent that was caught does not.
var active: bool = true
var glow: float = GLOW
