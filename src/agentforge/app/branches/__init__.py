"""What becomes of branches and directories of tasks: merged, thrown away, or cleaned up."""
