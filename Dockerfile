# `relata serve` in a container:
#
#   docker build -t relata .
#   docker run -p 1337:1337 -v relata-data:/data relata
#
# The keys are made at the first start, and printed then; the database and the keys stay in /data.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsqlite3-dev zlib1g-dev libpq-dev libcrypt-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN swift build --configuration release --static-swift-stdlib --traits CommandLineTool,Server,PostgreSQL --product relata \
    && install -D "$(swift build --configuration release --static-swift-stdlib --traits CommandLineTool,Server,PostgreSQL --show-bin-path)/relata" /out/relata

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsqlite3-0 zlib1g libpq5 libcrypt1 ca-certificates tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin relata \
    && install -d --owner relata --group relata --mode 700 /data
COPY --from=build /out/relata /usr/local/bin/relata
USER relata
WORKDIR /data
VOLUME /data
EXPOSE 1337
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/1337; printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3; read -r line <&3; [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["relata"]
CMD ["serve", "--host", "0.0.0.0", "--keys", "/data/relata.keys", "/data/relata.sqlite"]
