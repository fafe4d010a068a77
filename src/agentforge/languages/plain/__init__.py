"""What can be answered of a language without knowing it: by its grammar, by its text, or not at all.

A new language builds on these and answers what it can; what it cannot is *not available*, which gates take
for neither passed nor failed and which `Language.gaps` names.
"""
