"""Programs that run a user's script in a process of its own and record it.

``legacy_program`` runs Estimator programs, on real TF 1.x or on compat;
``tf2_program`` runs plain TF2 training loops. Both leave a recording.
"""

from __future__ import annotations
