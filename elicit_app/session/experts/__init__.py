"""Several experts beside each other, and their metrics made one."""
