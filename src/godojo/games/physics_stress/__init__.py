"""Physics stress: how many bodies a scene can have before it leaves its frame budget."""
