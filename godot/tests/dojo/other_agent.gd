extends DojoAgent
## An agent that sees more than the others of its policy.


func observe() -> PackedFloat32Array:
	return [1.0, 2.0, 3.0]
