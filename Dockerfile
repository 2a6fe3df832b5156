# Build, test and run stages; whatever they know, CMake and the scripts know.
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/install-deps.sh deploy/install-deps.sh
RUN deploy/install-deps.sh --no-python
COPY . .
RUN cmake --preset release \
 && cmake --build build/release --target foldd foldctl foldc foldrun \
 && strip build/release/bin/*

# `docker build --target test .` builds and runs everything.
FROM build AS test
RUN tests/run.sh

FROM debian:bookworm-slim AS run
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y \
      --no-install-recommends libgrpc++1.51 libprotobuf32 libspdlog1.10 libsqlite3-0 \
      libprometheus-cpp-core1.0 libcpp-httplib0.11 libssl3 libzip4 \
      libseccomp2 libarchive13 \
      ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && useradd --system --uid 65532 --home-dir /var/lib/foldd --create-home foldd
COPY --from=build /src/build/release/bin/foldd /src/build/release/bin/foldctl \
     /src/build/release/bin/foldc /src/build/release/bin/foldrun \
     /usr/local/bin/
COPY --from=build /src/deploy/targets /usr/local/share/foldd/targets
COPY --from=build /src/LICENSE /usr/local/share/foldd/LICENSE
USER foldd
WORKDIR /var/lib/foldd
VOLUME /var/lib/foldd
EXPOSE 50051 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s \
  CMD ["foldctl", "health", "--server", "127.0.0.1:50051"]
ENTRYPOINT ["foldd"]
# On loopback unless the operator says otherwise: foldd refuses a network
# without authentication (docs/operations.md, Access).
CMD ["--listen", "127.0.0.1:50051", "--http", "127.0.0.1:8080", \
     "--data", "/var/lib/foldd"]
