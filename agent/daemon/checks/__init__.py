"""What `reticent doctor` looks at: each check is a function that returns what it found."""
