"""The games as data: what a variant is, the presets, table options, house variants."""
