# The image of Rollcall. docs/hosts.md tells how to run it, and what of it was tested.

FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts
COPY browser browser
COPY src src
COPY scripts/build-browser.js scripts/
RUN node scripts/build-browser.js
# Optional is the program that builds.
RUN npm prune --omit=dev --omit=optional --ignore-scripts
# Source maps of packages serve nobody there: 7 MB.
RUN ["node", "-e", "const { globSync, rmSync } = require('node:fs'); globSync('node_modules/**/*.map').forEach((it) => rmSync(it))"]
RUN rm -r browser scripts && mkdir node_modules/.cache && chown 1000:1000 node_modules/.cache
COPY config.schema.json ./
# Keep the compiled code, so that a start on a read-only disk needs no compiler.
USER 1000:1000
RUN node src/start.js --help

FROM node:26-slim
WORKDIR /app
COPY --from=build /app ./
RUN install --directory --mode=700 --owner=1000 --group=1000 /data
# The user "node", as a number: Kubernetes checks by it that the user is not root.
USER 1000:1000
ENV DATA_DIR=/data PORT=3000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/start.js"]
