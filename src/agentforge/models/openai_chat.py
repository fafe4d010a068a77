"""Any server that speaks OpenAI's chat completions, by its address alone. `open_spec` is the way for everything else."""

from dataclasses import dataclass, field

from agentforge.models.base import Answer, Request, Reservation
from agentforge.models.prices import Prices
from agentforge.models.provider_model import ProviderModel
from agentforge.models.providers import Provider

OPENAI_URL = "https://api.openai.com/v1"
"""Where a model lives if nothing else is said."""


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """One model of one server."""

    name: str
    """The model's name, as the server knows it."""
    base_url: str = field(repr=False)
    api_key: str | None = field(repr=False)
    timeout_s: int
    prices: Prices | None

    def __post_init__(self) -> None:
        self._model()

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """All of the input at the full price, and the longest output that the request allows."""
        return self._model().worst_case(request, input_tokens)

    def ask(self, request: Request) -> Answer:
        """Send the request once."""
        return self._model().ask(request)

    def _model(self) -> ProviderModel:
        return ProviderModel(Provider("openai", "openai", self.base_url, timeout_s=self.timeout_s), self.name, self.api_key, self.prices)
