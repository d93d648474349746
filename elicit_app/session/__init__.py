"""Sessions: one expert's answers about one study, kept as they are given."""
