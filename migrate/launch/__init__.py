"""Clusters on one machine, and what is wrong with a cluster's description."""

from __future__ import annotations
