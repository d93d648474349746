"""From page to page: what is shown next, and the work in the background that it waits for."""
