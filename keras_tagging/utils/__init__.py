"""What belongs to no room of its own: limits on what comes from outside."""
