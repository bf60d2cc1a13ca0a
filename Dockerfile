# Three stages: the first compiles, the second holds what runs and nothing else, the third starts it once for its compiled code, which the image gets.
FROM node:24.21.0-alpine@sha256:ebfe2f90462722a7a4de65e91990e97fe0d401c70e0e762c5b53302f905ec1c1 AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY plugins/nats/package.json plugins/nats/
COPY plugins/postgres/package.json plugins/postgres/
RUN npm ci --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
COPY plugins ./plugins
COPY config/prices.yaml ./config/
RUN node node_modules/typescript/bin/tsc -p . --declaration false --sourceMap false --inlineSources false --incremental false \
 && node scripts/shipped-prices.mjs \
 && node scripts/bundle-console.mjs \
 && node scripts/bundle.mjs \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-alpine@sha256:ebfe2f90462722a7a4de65e91990e97fe0d401c70e0e762c5b53302f905ec1c1 AS service
ENV NODE_ENV=production VENTURI_LISTEN=127.0.0.1:7070
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist/src ./dist/src
COPY --from=build /build/dist/plugins ./dist/plugins
COPY --from=build /build/dist/bundle ./dist/bundle
COPY config ./config
COPY examples/plugins/new ./examples/plugins/new
COPY deploy/venturi.yaml ./deploy/venturi.yaml
# What the shell tool needs for its sandbox and its most used command.
RUN apk add --no-cache bubblewrap git
RUN mkdir -p /app/data && chown node:node /app/data
USER node
VOLUME /app/data
EXPOSE 7070
# The image's root can be read-only: only /app/data is written to.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7070/readyz').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# Half of V8's default young generation: a third less memory under load, at no measurable cost.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--min-semi-space-size=8", "dist/src/cli/bin.js"]
CMD ["start", "--quiet"]

FROM service AS started
RUN export NODE_COMPILE_CACHE=/tmp/compiled; \
    node --max-semi-space-size=16 --min-semi-space-size=8 dist/src/cli/bin.js start --quiet --set journal.path=/tmp/venturi.db --set dataFolder=/tmp & \
    until wget -q -O /dev/null http://127.0.0.1:7070/readyz; do sleep 1; done; kill $! && wait $!

# A container has an empty /tmp, and its root can be read-only.
FROM service
ENV NODE_COMPILE_CACHE=/app/compiled
COPY --from=started /tmp/compiled /app/compiled
