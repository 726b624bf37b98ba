ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
# Replaces the public npm registry, if set.
ARG NPM_CONFIG_REGISTRY
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force
# Adds the Node version of the project if the base image (NODE_IMAGE) has an older one.
RUN mkdir -p /opt/node/node_modules/.bin \
 && if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 24 ]; then \
      npm install --prefix /opt/node --no-save "node@$(node -p 'require("./package.json").devDependencies.node')" \
      && npm cache clean --force; \
    fi

FROM ${NODE_IMAGE} AS sources
WORKDIR /app
COPY package.json tsconfig.json ./
COPY migrations migrations
COPY shared shared
COPY workers workers
COPY ingress ingress
COPY all all
# The service `mail` of compose.yaml.
COPY stack/mail-catcher.ts stack/mail-catcher.ts
COPY docs/openapi.json docs/openapi.json
# A checkout made with `umask 077` has files that the user of the container could not read.
RUN chmod -R a+rX .

FROM ${NODE_IMAGE}
ENV NODE_ENV=production PATH=/opt/node/node_modules/.bin:$PATH
WORKDIR /app
COPY --from=dependencies /opt/node /opt/node
COPY --from=dependencies /app/node_modules node_modules
COPY --from=sources /app ./
RUN mkdir -p /var/lib/signalbox node_modules/.cache && chown node:node /var/lib/signalbox node_modules/.cache
USER node
# Fills the compile cache, because the file system of the container is read-only.
RUN node --import ./shared/platform/process/load-typescript.mjs --input-type=module --eval "await import('./all/start-all.ts')"
EXPOSE 8080 2525
# stack/stack-settings.ts explains the first two.
CMD ["node", "--max-semi-space-size=8", "--max-old-space-size=512", "--import", "./shared/platform/process/load-typescript.mjs", "ingress/main.ts"]
