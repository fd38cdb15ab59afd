"""How long one scan may take."""

from prnet_core.odometry.config import OdometryConfig

SCAN_INTERVALS = 2.0  # between scans, that one may take: a late scan costs less than lost ones; at least
MIN_SCAN_TIME = 0.2  # seconds: scans that arrive faster leave time for a search all the same,
MIN_SEARCH_TIME = 1.0  # and while lost, on a slow or busy machine, for one that takes so long
DEFAULT_SCAN_TIME = 0.5  # before the rate is known


def allowed_time(config: OdometryConfig, interval: float | None, is_lost: bool) -> float:
    """Seconds for a scan. interval: between scans, or None if not known. is_lost: also for the last attempt before."""
    least = MIN_SEARCH_TIME if is_lost else MIN_SCAN_TIME
    return config.max_scan_time or max(SCAN_INTERVALS * interval if interval else DEFAULT_SCAN_TIME, least)
