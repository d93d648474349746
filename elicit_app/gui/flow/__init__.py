"""Navigation between pages, and the background work that it waits for."""
