"""A kind of contract for import-linter: some modules may import themselves and a list, and nothing else."""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class AllowedContract(Contract):
    """`source_modules` (with what is below them) may import one another and `allowed_modules`."""

    type_name = "allowed"

    source_modules = fields.ListField(subfield=fields.StringField())
    allowed_modules = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001 - the base's own
        """Broken by each direct import of anything else."""
        roots: list[str] = self.source_modules  # type: ignore[assignment]  # a field is read as its value
        allowed: list[str] = self.allowed_modules  # type: ignore[assignment]  # as above
        broken = [
            f"{module} imports {imported}"
            for root in roots
            for module in sorted({root, *graph.find_descendants(root)})
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if not _is_below(imported, (*roots, *allowed))
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per import that is not allowed."""
        for line in check.metadata["broken"]:
            output.print_error(f"- {line}")


def _is_below(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
