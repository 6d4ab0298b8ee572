"""deploy/kubernetes without a cluster: manifests and the Job of a run against Kubernetes' schemas, values against ours.

Dagster's chart is on no package index, so that its templates are not rendered here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import dagster as dg
import kubernetes_validate
import pytest
import yaml
from dagster._core.launcher import LaunchRunContext
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from kubernetes.client import ApiClient

from pkg_pipeline.adapters import dagster_home
from pkg_pipeline.cli.programs import service
from pkg_pipeline.settings import ENVIRONMENT, Settings, variable_of

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
VERSIONS = ("1.31", "1.34")
NAME, COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/component"


@pytest.fixture(scope="module")
def manifests() -> dict[str, dict[str, Any]]:
    found = list(yaml.safe_load_all((FOLDER / "memory.yaml").read_text(encoding="utf-8")))
    assert len({one["kind"] for one in found}) == len(found)
    return {one["kind"]: one for one in found}


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_keep_to_the_schemas_of_kubernetes(manifests: dict[str, dict[str, Any]], version: str) -> None:
    for one in manifests.values():
        kubernetes_validate.validate(one, version, strict=True)


TAKEN = {
    (): "global generatePostgresqlPasswordSecret postgresql dagster-user-deployments runLauncher dagsterWebserver"
    " dagsterDaemon computeLogManager retention telemetry additionalInstanceConfig rabbitmq redis flower ingress",
    ("postgresql",): "enabled postgresqlHost postgresqlUsername postgresqlDatabase postgresqlScheme postgresqlParams"
    " service",
    ("dagster-user-deployments", "deployments", 0): "name image port codeServerArgs env envConfigMaps envSecrets"
    " includeConfigInLaunchedRuns podSecurityContext securityContext resources readinessProbe livenessProbe"
    " startupProbe volumes volumeMounts labels annotations nodeSelector affinity tolerations schedulerName",
    ("runLauncher", "config", "k8sRunLauncher"): "image imagePullPolicy jobNamespace loadInclusterConfig envConfigMaps"
    " envSecrets envVars volumes volumeMounts labels failPodOnRunFailure resources schedulerName securityContext"
    " runK8sConfig",
    ("runLauncher", "config", "k8sRunLauncher", "runK8sConfig"): "containerConfig podSpecConfig podTemplateSpecMetadata"
    " jobSpecConfig jobMetadata",
    ("dagsterDaemon", "runCoordinator", "config", "queuedRunCoordinator"): "maxConcurrentRuns tagConcurrencyLimits"
    " dequeueIntervalSeconds dequeueNumWorkers dequeueUseThreads",
    ("retention",): "enabled sensor schedule autoMaterialize",
}
"""Place in the values → the keys that the chart takes there, as its own schema has them; others it refuses."""


def test_values_have_only_keys_that_the_chart_takes(values: dict[str, Any]) -> None:
    for place, names in TAKEN.items():
        given: Any = values
        for step in place:
            given = given[step]
        assert set(given) <= set(names.split()), place


def test_the_schemas_refuse_a_misspelt_key(manifests: dict[str, dict[str, Any]]) -> None:
    budget = manifests["PodDisruptionBudget"]
    wrong = {**budget, "spec": {**budget["spec"], "maxUnavailible": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_service_budget_and_autoscaler_mean_the_pods_of_the_api(manifests: dict[str, dict[str, Any]]) -> None:
    deployment = manifests["Deployment"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels == {NAME: "pkg-pipeline", COMPONENT: "api"}
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert manifests["Service"]["spec"]["selector"] == labels
    assert manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    aimed = manifests["HorizontalPodAutoscaler"]["spec"]
    assert aimed["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert "replicas" not in deployment["spec"], "an upgrade would undo what the autoscaler did"
    assert aimed["minReplicas"] > manifests["PodDisruptionBudget"]["spec"]["maxUnavailable"]


def containers(manifests: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    templates = [manifests[kind]["spec"]["template"]["spec"] for kind in ("Job", "Deployment")]
    return {one["name"]: {**one, "pod": pod} for pod in templates for one in pod["containers"]}


def test_containers_are_programs_of_the_image_without_rights(manifests: dict[str, dict[str, Any]]) -> None:
    for one in containers(manifests).values():
        assert set(one["args"]) <= set(service.SERVICES)
        assert (one["pod"]["securityContext"]["runAsNonRoot"], one["pod"]["automountServiceAccountToken"]) == (
            True,
            False,
        )
        assert one["securityContext"]["readOnlyRootFilesystem"] is True
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {"secretRef": {"name": "pkg-pipeline"}} in one["envFrom"]
    port = containers(manifests)["api"]["ports"][0]["containerPort"]
    assert port == Settings(home=Path("/nowhere")).api_port
    assert manifests["Service"]["spec"]["ports"][0]["targetPort"] == "http"


def test_variables_are_read_and_no_secret_stands_in_a_file(manifests: dict[str, dict[str, Any]]) -> None:
    known = {variable_of(field) for field in Settings.model_fields} | set(ENVIRONMENT)
    named = set(manifests["ConfigMap"]["data"])
    assert named <= known | {"DAGSTER_DISABLE_TELEMETRY", "DBT_SEND_ANONYMOUS_USAGE_STATS"}
    assert named & {"DATABASE_URL", "PKG_API_TOKENS", "ANTHROPIC_API_KEY"} == set()
    assert "Secret" not in manifests


def test_values_say_of_runs_what_our_own_file_says(values: dict[str, Any]) -> None:
    daemon = values["dagsterDaemon"]
    queue = daemon["runCoordinator"]["config"]["queuedRunCoordinator"]
    ours = yaml.safe_load(dagster_home.Running(queue["maxConcurrentRuns"]).yaml)
    assert queue["tagConcurrencyLimits"] == ours["concurrency"]["runs"]["tag_concurrency_limits"]
    monitoring, expected = daemon["runMonitoring"], ours["run_monitoring"]
    for name, key in (("start_timeout", "start"), ("cancel_timeout", "cancel")):
        assert monitoring[f"{key}TimeoutSeconds"] == expected[f"{name}_seconds"]
    assert monitoring["pollIntervalSeconds"] == expected["poll_interval_seconds"]
    assert daemon["runRetries"]["maxRetries"] == ours["run_retries"]["max_retries"]
    for kind in ("schedule", "sensor"):
        assert values["retention"][kind]["purgeAfterDays"] == ours["retention"][kind]["purge_after_days"]
    assert values["additionalInstanceConfig"]["nux"] == ours["nux"]


def test_values_and_manifests_name_the_same_things(
    values: dict[str, Any], manifests: dict[str, dict[str, Any]]
) -> None:
    (location,) = values["dagster-user-deployments"]["deployments"]
    image = f"{location['image']['repository']}:{location['image']['tag']}"
    assert {one["image"] for one in containers(manifests).values()} == {image}
    claim = location["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert claim == manifests["PersistentVolumeClaim"]["metadata"]["name"]
    assert location["envConfigMaps"] == [{"name": manifests["ConfigMap"]["metadata"]["name"]}]
    assert location["port"] == service.CODE_PORT
    assert values["global"]["postgresqlSecretName"] == "pkg-pipeline-postgresql"
    assert values["generatePostgresqlPasswordSecret"] is False


@dg.job
def nothing() -> None: ...


def test_a_run_becomes_a_job_that_kubernetes_takes(values: dict[str, Any], tmp_path: Path) -> None:
    """By the launcher itself, with the container context that the chart makes of the code location's values."""
    (location,) = values["dagster-user-deployments"]["deployments"]
    given = values["runLauncher"]["config"]["k8sRunLauncher"]
    config = {
        "service_account_name": "dagster",
        "instance_config_map": "dagster-instance",
        "dagster_home": "/opt/dagster/dagster_home",
        "postgres_password_secret": values["global"]["postgresqlSecretName"],
        "load_incluster_config": False,
        "kubeconfig_file": str(kubeconfig(tmp_path)),
        "image_pull_policy": given["imagePullPolicy"],
        "fail_pod_on_run_failure": given["failPodOnRunFailure"],
        "resources": given["resources"],
        "run_k8s_config": {
            "job_spec_config": {"ttl_seconds_after_finished": 86400},
            "pod_spec_config": {"termination_grace_period_seconds": 180},
        },
    }
    assert given["runK8sConfig"]["jobSpecConfig"] == {"ttlSecondsAfterFinished": 86400}
    context = {
        "k8s": {
            "env_config_maps": [one["name"] for one in location["envConfigMaps"]],
            "env_secrets": [one["name"] for one in location["envSecrets"]],
            "volumes": location["volumes"],
            "volume_mounts": location["volumeMounts"],
            "run_k8s_config": {"pod_spec_config": {"security_context": location["podSecurityContext"]}},
        }
    }
    launcher = {"module": "dagster_k8s", "class": "K8sRunLauncher", "config": config}
    with dg.instance_for_test(overrides={"run_launcher": launcher}) as instance:
        job = dg.reconstructable(nothing)
        origin = job.get_python_origin()
        origin = origin._replace(
            repository_origin=origin.repository_origin._replace(
                container_image="pkg-pipeline:1", container_context=context
            )
        )
        remote = RemoteJobOrigin(
            RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("pkg_pipeline"), "__repository__"), "nothing"
        )
        run = instance.create_run_for_job(nothing, job_code_origin=origin, remote_job_origin=remote)
        api = MagicMock()
        instance.run_launcher._api_client = api  # type: ignore[attr-defined]
        instance.run_launcher.launch_run(LaunchRunContext(run, workspace=None))
        (call,) = api.create_namespaced_job_with_retries.call_args_list
        made = json.loads(json.dumps(ApiClient().sanitize_for_serialization(call.kwargs["body"])))
    for version in VERSIONS:
        kubernetes_validate.validate(made, version, strict=True)
    pod = made["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"][:3] == ["dagster", "api", "execute_run"], "what the image's entry point passes on"
    assert {"secretRef": {"name": "pkg-pipeline"}} in container["envFrom"]
    assert {"name": "inbox", "mountPath": "/home/memory/data/inbox"} in container["volumeMounts"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert made["spec"]["ttlSecondsAfterFinished"] == 86400


def kubeconfig(folder: Path) -> Path:
    """Of a cluster that is not there."""
    file = folder / "kubeconfig"
    file.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "none",
                "clusters": [{"name": "none", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "none", "user": {}}],
                "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}],
            }
        ),
        encoding="utf-8",
    )
    return file
