"""Which places share memory, and what a write reaches: summaries of functions, views and their inverses."""
