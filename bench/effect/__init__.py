"""`make effect`: what a capable reader achieves with what it is shown, on requests to released libraries.

Each request is about release N of a library, and release N+1's tests judge the result. The reader is recorded:
its replies are kept once as data, with a hash of the context that each answered, and replayed.
"""
