# The image of the service: built from this checkout, run by a user without rights, with a root file system that may be read-only.
# What it writes is below /var/lib/tenon (data, packages, templates) and in /tmp.
#
#   docker build --tag tenon .
#   docker run --init --read-only --tmpfs /tmp --volume tenon:/var/lib/tenon --publish 8055:8055 \
#     --env DB_CONNECTION_STRING=postgres://user:password@host/database tenon

# Debian with Node 24: the binaries of argon2, sharp and isolated-vm are for glibc.
ARG BASE=docker.io/library/node:24-bookworm-slim
# The same Debian, with the client programs that `backup` and `restore` run: of the version of the database server, or a newer one.
ARG POSTGRES=docker.io/library/postgres:17-bookworm

FROM ${POSTGRES} AS postgres
# The programs with their libraries, apart from those of the C library, and in front of them scripts that name the folder of the libraries.
RUN mkdir -p /client/programs /client/lib \
  && for name in pg_dump pg_restore; do \
    cp /usr/lib/postgresql/*/bin/$name /client/programs/ \
    && printf '#!/bin/sh\nLD_LIBRARY_PATH=/opt/postgresql/lib exec /opt/postgresql/programs/%s "$@"\n' $name > /client/$name \
    && chmod 0755 /client/$name \
    || exit 1; \
  done \
  && ldd /client/programs/* | awk '$2 == "=>" { print $3 }' | sort -u \
    | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | xargs cp -L -t /client/lib

FROM ${BASE} AS package
WORKDIR /build
COPY . .
RUN npm run pack
WORKDIR /opt/tenon
# The embedded PostgreSQL is a peer dependency, and left out: a container has a database beside it.
RUN echo '{ "private": true }' > package.json \
  && npm install --omit=dev --omit=peer --no-audit --no-fund /build/dist/tenon-*.tgz \
  && npm cache clean --force

FROM ${BASE}
# bubblewrap confines third-party packages, as far as the host lets it.
RUN export DEBIAN_FRONTEND=noninteractive \
  && apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 tenon \
  && useradd --uid 10001 --gid 10001 --home-dir /var/lib/tenon --no-create-home --shell /usr/sbin/nologin tenon \
  && install --directory --owner 10001 --group 10001 --mode 0750 /var/lib/tenon
COPY --from=package /opt/tenon /opt/tenon
COPY --from=postgres /client /opt/postgresql
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=8055 \
  LOG_STYLE=raw \
  DATA_PATH=/var/lib/tenon/data \
  EXTENSIONS_PATH=/var/lib/tenon/extensions \
  EMAIL_TEMPLATES_PATH=/var/lib/tenon/templates \
  POSTGRES_PROGRAMS_PATH=/opt/postgresql
WORKDIR /var/lib/tenon
VOLUME /var/lib/tenon
# By number, so that an orchestrator can see that it is not root.
USER 10001:10001
EXPOSE 8055
STOPSIGNAL SIGTERM
# The process is alive. Whether it can serve, its database included, is said by /server/health.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/server/ping`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not npx, which would stay between the orchestrator's signals and the service.
ENTRYPOINT ["/opt/tenon/node_modules/.bin/tenon"]
CMD ["start"]
