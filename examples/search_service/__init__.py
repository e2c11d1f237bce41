"""A small recipient: a search service that ranks by what it is told about who asks."""
