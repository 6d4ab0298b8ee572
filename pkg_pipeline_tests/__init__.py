from pkg_pipeline_tests import caches

caches.enlarge()
