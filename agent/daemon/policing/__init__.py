"""What changes the policy file, and what is said of the rules in it."""
