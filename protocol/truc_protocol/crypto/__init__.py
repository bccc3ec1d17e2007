"""Keys and what they sign and seal, certificates, hash chains, the shuffle: the one door to the crypto library."""
