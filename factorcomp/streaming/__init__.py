"""Float tables of any size, read once, piece by piece: no array of the size of a table is made."""
