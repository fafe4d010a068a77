"""From the bytes that a model wrote to a reply: every format, read strictly."""
