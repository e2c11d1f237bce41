"""Services that foretell what somebody wants from what a request carries: three, to choose from."""
