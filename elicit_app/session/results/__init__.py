"""What comes of the answers: ratios, models judged, and how far all of it can be trusted."""
