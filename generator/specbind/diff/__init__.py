"""What changed between two ABIs, and what it breaks."""
