"""The tests; what their packages share lies beside them."""

from pkg_pipeline_tests import caches

caches.enlarge()
