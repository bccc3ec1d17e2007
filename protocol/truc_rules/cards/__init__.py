"""Packs and the strength of their cards, and the seats that hold them."""
