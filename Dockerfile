# One image for every service of docker-compose.yml; which one a container is, its command says.
FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /src
COPY requirements.lock ./
# exactly what was locked, each file by its hash
RUN pip install --require-hashes --no-deps -r requirements.lock
COPY pkg_pipeline ./pkg_pipeline
# the marts' manifest: needs no database
RUN python -m pkg_pipeline.adapters.dbt_project
# the image writes no bytecode, and pip compiles only what it installs
RUN python -m compileall -q pkg_pipeline

FROM python:3.11-slim
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/src \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DAGSTER_DISABLE_TELEMETRY=1 \
    DBT_SEND_ANONYMOUS_USAGE_STATS=false \
    PKG_HOME=/home/memory/data
RUN useradd --create-home --uid 10001 memory && install -d -o memory -g memory /home/memory/data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /src /src
WORKDIR /src
USER memory
VOLUME /home/memory/data
ENTRYPOINT ["python", "-m", "pkg_pipeline.cli.programs.service"]
CMD ["api"]
