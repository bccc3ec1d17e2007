"""The entry points: what is legal, what an action does, why it is refused, who may see what."""
