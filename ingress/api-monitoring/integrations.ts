import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { canonicalJson } from '#shared/monitoring/checks/canonical-json.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { shownConfig } from '#shared/monitoring/integrations/shown-config.ts'
import { findIntegration, listNotifications, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { decryptConfig } from '#shared/monitoring/operations/integration-config.ts'
import {
  createIntegration,
  deleteIntegration,
  testIntegration,
  updateIntegration,
} from '#shared/monitoring/operations/integrations.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import type { IngressDeps } from '../deps.ts'
import type { Route } from '../route.ts'
import { read, readWriteKey, withStatus, write } from './monitoring-route.ts'
import { uuidParam } from './schemas.ts'

const NOTIFICATIONS_LISTED = 100

const integrationSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind: z.string(),
    config: z.record(z.string(), z.unknown()).describe('Without secret members.'),
    disabled: z.boolean(),
    last_notify: z.iso.datetime().nullable(),
    last_error: z.string(),
  })
  .meta({ id: 'IntegrationDetails' })

const notification = z
  .object({
    id: z.uuid(),
    check: z.uuid().nullable().describe('Null for a test message and for a digest.'),
    check_status: z.enum(['up', 'down']),
    state: z.enum(['pending', 'delivered', 'failed', 'suppressed']),
    error: z.string(),
    attempts: z.int(),
    created: z.iso.datetime(),
    next_attempt: z.iso.datetime().nullable(),
    finished: z.iso.datetime().nullable(),
    what: z.enum(['flip', 'test', 'first', 'repeat', 'recovery', 'flapping', 'digest', 'unknown', 'shift']),
    incident: z.uuid().nullable(),
    size: z.int().describe('Number of checks in the message.'),
  })
  .meta({ id: 'Notification' })

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const config = z.record(z.string(), z.unknown()).describe("The kind's options; secret members are never shown again.")

const common = {
  tags: ['Integrations'],
  errors: [400, 404, 413],
  responses: {
    200: { description: 'The integration.', content: json(integrationSchema) },
  },
}

/** Management of integrations, an extension of the published contract; version 3 only. */
export const integrationRoutes: readonly Route[] = [
  write({
    ...common,
    path: '/api/v3/channels/',
    operationId: 'createIntegration',
    summary: 'Create an integration',
    description:
      'An e-mail integration first sends its recipient a confirmation link, unless the address belongs to a member of the organisation or was confirmed in this project before.',
    params: {},
    body: {
      required: true,
      content: json(z.object({ kind: z.string(), name: z.string().max(100).optional(), config })),
    },
    responses: { ...common.responses, 201: { description: 'The integration.', content: json(integrationSchema) } },
    async handle({ key, actor, body, deps }) {
      const { kind, name = '', config: options = null } = body
      const input = { project: key.project, kind, name, config: canonicalJson(options) }
      const integration = await createIntegration(deps.db, actor, input, deps)
      return withStatus(201, view(integration, deps))
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/channels/{uuid}',
    operationId: 'getIntegration',
    summary: 'Get an integration',
    params: { uuid: uuidParam },
    async handle({ key, params, deps }) {
      return view(await requireIntegration(params.uuid, key, deps), deps)
    },
  }),
  write({
    ...common,
    path: '/api/v3/channels/{uuid}',
    operationId: 'updateIntegration',
    summary: 'Change an integration',
    description:
      'Members that the request omits do not change. If the URL keeps its origin, a new config keeps the secret members that it omits. For another origin, send them again, or null to delete them.',
    params: { uuid: uuidParam },
    body: {
      required: true,
      content: json(
        z.object({ name: z.string().max(100).optional(), config: config.optional(), disabled: z.boolean().optional() }),
      ),
    },
    async handle({ key, actor, params, body, deps }) {
      const integration = await requireIntegration(params.uuid, key, deps)
      const { name, disabled } = body
      const config = body.config === undefined ? undefined : canonicalJson(body.config)
      const input = { project: key.project, integration, name, disabled, config }
      await updateIntegration(deps.db, actor, input, deps)
      return view(await requireIntegration(params.uuid, key, deps), deps)
    },
  }),
  write({
    ...common,
    method: 'delete',
    path: '/api/v3/channels/{uuid}',
    operationId: 'deleteIntegration',
    summary: 'Delete an integration; its checks keep their other integrations',
    params: { uuid: uuidParam },
    async handle({ key, actor, params, deps }) {
      const integration = await requireIntegration(params.uuid, key, deps)
      await deleteIntegration(deps.db, actor, { project: key.project, integration })
      return view(integration, deps)
    },
  }),
  write({
    ...common,
    path: '/api/v3/channels/{uuid}/test',
    operationId: 'testIntegration',
    summary: 'Send a test message through an integration',
    description: 'The message is sent like any other. Its result is listed with the notifications of the integration.',
    params: { uuid: uuidParam },
    responses: {
      ...common.responses,
      202: { description: 'The message is queued.', content: json(z.object({ notification: z.uuid() })) },
    },
    async handle({ key, actor, params, deps }) {
      const integration = await requireIntegration(params.uuid, key, deps)
      const id = await testIntegration(actor, { project: key.project, integration }, deps)
      return withStatus(202, { notification: id })
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/channels/{uuid}/notifications',
    operationId: 'listIntegrationNotifications',
    summary: 'List the newest notifications of an integration',
    params: { uuid: uuidParam },
    responses: {
      ...common.responses,
      200: {
        description: `At most ${NOTIFICATIONS_LISTED}, newest first.`,
        content: json(z.object({ notifications: z.array(notification) })),
      },
    },
    async handle({ key, params, deps }) {
      const integration = await requireIntegration(params.uuid, key, deps)
      const notifications = await listNotifications(deps.db, integration.id, NOTIFICATIONS_LISTED)
      return {
        notifications: notifications.map((it) => ({
          id: it.id,
          check: it.checkUuid,
          check_status: it.checkStatus,
          state: it.state,
          error: it.error,
          attempts: it.attempts,
          created: it.createdAt.toISOString(),
          next_attempt: it.state === 'pending' ? (it.nextAttemptAt?.toISOString() ?? null) : null,
          finished: it.finishedAt?.toISOString() ?? null,
          what: it.what,
          incident: it.incident,
          size: it.size,
        })),
      }
    },
  }),
]

async function requireIntegration(uuid: string, key: ProjectKey, deps: IngressDeps): Promise<StoredIntegration> {
  const integration = await findIntegration(deps.db, key.project.id, uuid)
  if (!integration) throw new NotFoundError('')
  return integration
}

function view(integration: StoredIntegration, deps: IngressDeps) {
  const kind = findKind(integration.kind)
  return {
    id: integration.uuid,
    name: integration.name,
    kind: integration.kind,
    config: kind ? shownConfig(kind, decryptConfig(integration, deps.secrets)) : {},
    disabled: integration.disabledAt !== null,
    last_notify: integration.lastNotifyAt?.toISOString() ?? null,
    last_error: integration.lastError,
  }
}
