"""Files: read, written and formatted."""
