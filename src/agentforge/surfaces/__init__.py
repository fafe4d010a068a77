"""What people touch. A surface reads through the store and acts through `wiring`; it holds no rule."""
