"""The commands of `truc`, one module each; they use nothing of the library but what it exports and its screen."""
