"""Any other language, by what a project's settings declare: its commands, and the form of its report."""
