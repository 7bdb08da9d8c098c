"""How a report looks: on a terminal."""
