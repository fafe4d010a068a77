"""Reports of test runners, read as data: every one of them may be made up by the code that is tested."""
