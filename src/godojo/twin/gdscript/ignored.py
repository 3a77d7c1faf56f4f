"""Calls that cannot change the state of a game: they are left out of the generated code, and listed."""

FUNCTIONS = {
    "print",
    "prints",
    "printt",
    "printerr",
    "printraw",
    "print_debug",
    "print_rich",
    "print_verbose",
    "push_error",
    "push_warning",
    "queue_redraw",
    "randomize",  # a twin's generator is seeded by Godojo
}
CLASSES = {
    "AnimatedSprite2D",
    "AnimatedSprite3D",
    "AnimationPlayer",
    "AnimationTree",
    "AudioStreamPlayer",
    "AudioStreamPlayer2D",
    "AudioStreamPlayer3D",
    "CPUParticles2D",
    "CPUParticles3D",
    "Camera2D",
    "Camera3D",
    "CanvasLayer",
    "ColorRect",
    "DirectionalLight3D",
    "GPUParticles2D",
    "GPUParticles3D",
    "Label",
    "Label3D",
    "MeshInstance3D",
    "OmniLight3D",
    "ProgressBar",
    "RichTextLabel",
    "Sprite2D",
    "Sprite3D",
    "SpotLight3D",
}
"""Nodes that only draw or sound. A member declared with one of these types is left out with every use of it."""
TEXT = {"str", "var_to_str"}
"""Functions that only make text."""
MOVES = (
    "add_child",
    "basis",
    "connect",
    "free",
    "global_",
    "look_at",
    "move_child",
    "position",
    "queue_free",
    "remove_child",
    "reparent",
    "rotate",
    "rotation",
    "scale",
    "transform",
    "translate",
)
"""How the names begin that are not left out even there: they may move or free whatever hangs on the node."""
