"""What is said, in the window and in the terminal: pairs, answers, progress and results in words."""
