"""What new tests are worth: are they about the change, can they fail, and do they notice its absence."""
