"""One screen a file, or a few files where it has parts; `table` names them all."""
