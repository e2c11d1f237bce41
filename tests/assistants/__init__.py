"""What an assistant is told, and how it asks."""
