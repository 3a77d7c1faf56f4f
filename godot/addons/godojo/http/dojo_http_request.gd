class_name DojoHttpRequest
extends RefCounted
## One request, as it was read.

var method: String
## Without the query.
var path: String
## By name in small letters.
var headers: Dictionary[String, String] = {}
var body := PackedByteArray()
## Whether the client wants to say more on the same line.
var keeps_alive: bool = true
