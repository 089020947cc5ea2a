# Wharf in a container. `docker compose up` runs it with PostgreSQL and Redis; alone it runs embedded:
#   docker build -t wharf . && docker run -p 8080:8080 -v wharf:/data -e WHARF_ADMIN_TOKEN=... wharf
FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --ignore-scripts && npm cache clean --force
COPY console console
COPY scripts/build-console.mjs scripts/
RUN node scripts/build-console.mjs

FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY bin bin
COPY src src
COPY proto proto
COPY --from=console /app/dist/console dist/console
RUN mkdir /data /shared && chown node:node /data /shared
USER node
ENV WHARF_HOST=0.0.0.0 WHARF_DATA_DIR=/data NODE_ENV=production
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/livez').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/wharf.mjs", "serve"]
