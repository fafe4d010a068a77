"""What is known about models and providers: families, prices, windows, addresses, tiers."""
