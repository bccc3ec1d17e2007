"""One match as this client follows it: what is agreed to, checked, signed and chosen, and how it goes on after a gap."""
