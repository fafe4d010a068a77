"""Reports on paper: PDF from the HTML of a report. The only module that knows WeasyPrint."""

import warnings

# What it says to its own packagers, when it is loaded or at work, is nothing for a reader of reports.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import weasyprint  # type: ignore[import-untyped]  # it has no types
    from weasyprint.urls import URLFetcher  # type: ignore[import-untyped]  # as above


def print_html(html: str) -> bytes:
    """The same as PDF. A report is one file: nothing is fetched for it, from the network or from the disk."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _printed(html)


def _printed(html: str) -> bytes:
    document = weasyprint.HTML(string=html, url_fetcher=URLFetcher(allowed_protocols=()))
    made: bytes = document.write_pdf(pdf_identifier=b"agentforge")
    return made
