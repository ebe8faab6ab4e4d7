"""What a value that nobody typed at this command line may ask for."""
