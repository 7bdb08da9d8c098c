"""Theory.md, section 9: task arithmetic."""
