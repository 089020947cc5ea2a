# Wharf in a container; compose.yaml runs two of them with all that they need. Alone it runs embedded:
#   docker build -t wharf . && docker run --read-only --tmpfs /tmp -p 8080:8080 -v wharf:/data wharf
# The admin token is in /data/admin-token: docker exec … wharf project create shop
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
COPY docs docs
COPY --from=console /app/dist/console dist/console
COPY --from=console /app/node_modules/@fastify/swagger-ui/static dist/reference
RUN ln -s /app/bin/wharf.mjs /usr/local/bin/wharf && mkdir /data /shared && chown node:node /data /shared
USER node
ENV WHARF_HOST=0.0.0.0 WHARF_DATA_DIR=/data NODE_ENV=production
VOLUME /data
# HTTP, and gRPC where TASK_GRPC_HOST=0.0.0.0 and TASK_GRPC_TOKEN are set.
EXPOSE 8080 50050
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["wharf", "health"]
ENTRYPOINT ["wharf"]
CMD ["serve"]
