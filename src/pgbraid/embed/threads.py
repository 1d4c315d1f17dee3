"""How many threads torch may take, as the operator set it. torch has one number for a whole process."""

from __future__ import annotations


def limit_threads(threads: int) -> None:
    """Let torch compute with that many threads in this process. Meant for when a model that needs torch was loaded."""
    import torch

    torch.set_num_threads(threads)
