"""The server's keys, and the certificate they vouch for: how they are kept, sealed, changed and given up."""
