"""The keys that the server has, and the certificate that they vouch for: kept, sealed, changed, given up."""
