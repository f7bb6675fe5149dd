"""Errors about the datasets and results of the experiments, and about packages."""

from __future__ import annotations

from collections.abc import Sequence

from poolwise.errors.family import TransferError
from poolwise.wording import did_you_mean, listed


class UnknownDataset(TransferError):
    """A name that no dataset of the experiments has."""

    def __init__(self, name: object, there: Sequence[str]) -> None:
        hint = did_you_mean(name, there)
        super().__init__(f"No dataset named {name!r}. There are {listed(there)}.{hint}")


class UnknownResult(TransferError):
    """A name that no table or figure of the paper has."""

    def __init__(self, name: object, there: Sequence[str]) -> None:
        hint = did_you_mean(name, there)
        super().__init__(
            f"No table or figure named {name!r}.{hint} There are {listed(there)}. On the command "
            "line 'list' tells what each of them shows, and 'all' computes them all."
        )


class DatasetNotFound(TransferError):
    """A dataset that no folder holds and that could not be downloaded."""

    def __init__(
        self, name: str, file: str, tried: Sequence[str], source: str | None = None
    ) -> None:
        told = f"Tried: {'; '.join(tried)}." if tried else "No folder was named."
        folder = "the folder that POOLWISE_DATA, or --data DIR, names"
        out = (
            f"There is no address to download it from. Make it from {source}, and save it as "
            f"{file} in {folder}."
            if source
            else f"Put {file} into {folder}, or try again with a connection to the internet."
        )
        super().__init__(f"The dataset {name!r} is out of reach. {told} {out}")


class WrongChecksum(TransferError):
    """A file, here or on a server, that is not the dataset its name says."""

    def __init__(self, name: str, where: str, expected: str, found: str, then: str) -> None:
        super().__init__(
            f"{where} is not the dataset {name!r}: its SHA-256 is {found}, and should be "
            f"{expected}. {then}"
        )


class UnreadableDataset(TransferError):
    """A file that does not hold the numbers it should."""

    def __init__(self, name: str, file: str, why: str, wanted: str) -> None:
        super().__init__(
            f"{file} cannot be read as the dataset {name!r}: {why}. It must be {wanted}."
        )


class NotInstalled(TransferError, ImportError):
    """Work that needs a package which is not there."""

    def __init__(self, what: str, package: str, extra: str, otherwise: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed. Run "
            f'pip install "poolwise[{extra}]". {otherwise}'
        )
