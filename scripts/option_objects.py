"""Commands whose options come as objects: a dataclass holds what belongs together, with its help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_option_objects(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function that takes dataclasses: each of their fields becomes an option.

    Parameters
    ----------
    function : callable
        Parameters that are dataclasses have fields of ``Annotated[type, typer.Option(…)]``; all others
        stay what they are to typer.

    Returns
    -------
    callable
        For ``app.command()``.

    Raises
    ------
    TypeError
        If two fields have one name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int
    ...     height: int = 1
    >>> @with_option_objects
    ... def area(size: Size, unit: str = "mm") -> None:
    ...     print(size.width * size.height, unit)
    >>> area(width=3, height=2)
    6 mm
    >>> list(inspect.signature(area).parameters)
    ['width', 'height', 'unit']
    """
    hints = get_type_hints(function, include_extras=True)
    objects: dict[str, type[Any]] = {}
    shown: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and is_dataclass(kind):
            objects[parameter.name] = kind
            shown += _options(kind)
        else:
            shown.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
    taken = {name: {field.name for field in fields(kind)} for name, kind in objects.items()}

    @wraps(function)
    def command(**given: Any) -> None:
        made = {
            name: kind(**{key: given.pop(key) for key in taken[name] & given.keys()})
            for name, kind in objects.items()
        }
        function(**made, **given)

    names = [parameter.name for parameter in shown]
    if len(set(names)) < len(names):
        raise TypeError(f"{function.__name__}: two options have one name among {sorted(names)}")
    # Required options come first, as in a call by hand.
    shown.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    del command.__wrapped__
    return command


def _options(kind: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(kind)
    ]
