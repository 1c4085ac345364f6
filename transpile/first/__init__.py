"""The first engine: LibCST trees rewritten pass by pass. It goes as the rooms beside it take its work over."""
