"""Asks git: which files belong to the project, and how it was before. The only package that runs git."""

from __future__ import annotations

from layerguard.git.history import (
    find_commit,
    find_merge_bases,
    find_parents,
    find_renames,
    find_top,
    is_cut_off,
    is_shallow,
    list_files_at,
    list_lines,
    list_stages,
    list_versions,
    read_blobs,
)
from layerguard.git.listing import describe_index, list_files, list_untracked
from layerguard.git.running import find_checkout, is_checkout, is_ignored, is_missing
from layerguard.git.state import (
    configuration_files,
    find_index,
    list_ignored,
    revision_files,
    state_files,
)

__all__ = [
    "configuration_files",
    "describe_index",
    "find_checkout",
    "find_commit",
    "find_index",
    "find_merge_bases",
    "find_parents",
    "find_renames",
    "find_top",
    "is_checkout",
    "is_cut_off",
    "is_ignored",
    "is_missing",
    "is_shallow",
    "list_files",
    "list_files_at",
    "list_ignored",
    "list_lines",
    "list_stages",
    "list_untracked",
    "list_versions",
    "read_blobs",
    "revision_files",
    "state_files",
]
