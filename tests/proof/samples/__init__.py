"""Where the inputs come from on which a rule is compared with torch: torch's own, made at the
edges, written by hand."""
