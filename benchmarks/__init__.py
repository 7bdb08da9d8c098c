"""How fast is it, against the memory's bandwidth and against what one would otherwise use? Ratios within one run."""
