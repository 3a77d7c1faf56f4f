extends Node

var energy: float = 10.0
