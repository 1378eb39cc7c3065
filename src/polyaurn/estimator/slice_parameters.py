"""Parameters of topics over time: those of its own, and those of `LDA` for every slice."""

from inspect import Parameter, signature
from typing import Any, Self

from polyaurn.base.errors import InputError
from polyaurn.training.settings import SETTINGS


class SliceParameters:
    """Base of `TopicsOverTime`: its parameters as scikit-learn asks for and sets them."""

    parameters: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of TopicsOverTime, and those of `LDA` that were given.

        Parameters
        ----------
        deep : bool
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        dict
            Their values, by name.
        """
        return {name: getattr(self, name) for name in self._own_names()} | self.parameters

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters.

        Parameters
        ----------
        **parameters
            Parameters of TopicsOverTime and of `LDA`.

        Returns
        -------
        TopicsOverTime
            The estimator itself.
        """
        own = self._own_names()
        of_slices = {name: value for name, value in parameters.items() if name not in own}
        check_names(of_slices)
        for name in parameters.keys() - of_slices.keys():
            setattr(self, name, parameters[name])
        self.parameters = self.parameters | of_slices
        return self

    @classmethod
    def _own_names(cls) -> list[str]:
        """Return the names of the parameters that are not those of `LDA`."""
        named = signature(cls).parameters.values()
        return [parameter.name for parameter in named if parameter.kind != Parameter.VAR_KEYWORD]


def check_names(parameters: dict[str, Any]) -> None:
    """Reject parameters that `LDA`, which trains each slice, does not have."""
    unknown = [n for n in parameters if n not in SETTINGS or SETTINGS[n].of_hdp]
    if unknown:
        raise InputError(
            f"The '{unknown[0]}' parameter must be one of TopicsOverTime, or of LDA, which trains "
            "each slice. It is of neither; check its spelling."
        )
