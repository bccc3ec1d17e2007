"""Keys, hash chains, the shuffle and boxes: the only doors to cryptography."""
