"""Theory.md, section 5: reachability drift and inherited guarantees."""
