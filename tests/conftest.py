"""Options and settings for every test."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("quiet", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("quiet")


def pytest_addoption(parser):
    parser.addoption("--campaign", type=int, default=0, metavar="N", help="also run the campaigns, N random cases each")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--campaign"):
        skip = pytest.mark.skip(reason="a campaign: thousands of random cases; runs with --campaign N")
        for item in items:
            if "campaign" in item.keywords:
                item.add_marker(skip)
