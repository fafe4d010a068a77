"""What people touch. A surface reads through the store and acts through `app`; it holds no rule."""
