"""What models and composers can be held to: random instances by construction, and laws."""
