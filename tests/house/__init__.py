"""What holds for every room: sizes, imports, dependencies, errors, the wheel."""
