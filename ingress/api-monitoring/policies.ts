import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { findPolicy, findRules, policiesOf, type StoredPolicy } from '#shared/monitoring/alerting/policy-store.ts'
import { createPolicy, deletePolicy, updatePolicy } from '#shared/monitoring/operations/policies.ts'
import { loadPolicyViews } from '#shared/monitoring/operations/reachable.ts'
import { changeRules } from '#shared/monitoring/operations/rules.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { UUID_PATTERN } from '#shared/uuid.ts'
import type { IngressDeps } from '../deps.ts'
import type { Route } from '../route.ts'
import { policyRequestSchema, policySchema, rulesSchema } from './alerting-schemas.ts'
import { shownRules } from './check-reads.ts'
import { pageOf, pageQuery } from './list-page.ts'
import { read, readWriteKey, withStatus, write } from './monitoring-route.ts'
import { requireCheck } from './operation.ts'
import { uuidParam } from './schemas.ts'

const json = (schema: z.ZodType) => ({ 'application/json': schema })
const policyParam = {
  pattern: UUID_PATTERN,
  description: 'Dashed and in lower case.',
  example: 'd4fd64c5-1a57-4b4c-a9d4-6f2f3b8b7a10',
}
const common = {
  tags: ['Alerting'],
  errors: [400, 404, 413],
  responses: {
    200: { description: 'The policy.', content: json(policySchema) },
  },
}
const body = { required: true, content: json(policyRequestSchema) }

/** Version 3 only. */
export const policyRoutes: readonly Route[] = [
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/policies/',
    operationId: 'listPolicies',
    summary: 'List the policies of the project, newest first',
    params: {},
    query: pageQuery,
    responses: {
      ...common.responses,
      200: {
        description: 'A page of policies; `next` is the cursor of the next page.',
        content: json(z.object({ policies: z.array(policySchema), next: z.string().nullable() })),
      },
    },
    async handle({ key, request, deps }) {
      const { page, next } = pageOf(await policiesOf(deps.db, [key.project.id]), request)
      const view = await loadPolicyViews(deps.db, page, key.project.organisationId, deps)
      return { policies: page.map(view), next }
    },
  }),
  write({
    ...common,
    path: '/api/v3/policies/',
    operationId: 'createPolicy',
    summary: 'Create a policy',
    params: {},
    body,
    responses: {
      ...common.responses,
      201: { description: 'The policy.', content: json(policySchema) },
      403: { description: 'The project has 50 policies. No body.' },
    },
    async handle({ key, actor, body, deps }) {
      const policy = await createPolicy(deps.db, actor, { project: key.project, body })
      return withStatus(201, await shown(policy, key, deps))
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/policies/{policy}',
    operationId: 'getPolicy',
    summary: 'Get a policy',
    params: { policy: policyParam },
    async handle({ key, params, deps }) {
      const policy = await findPolicy(deps.db, key.project.id, params.policy)
      if (!policy) throw new NotFoundError('')
      return await shown(policy, key, deps)
    },
  }),
  write({
    ...common,
    path: '/api/v3/policies/{policy}',
    operationId: 'updatePolicy',
    summary: 'Change a policy',
    description:
      'Members that the request omits do not change; null resets to the default. The change is effective immediately.',
    params: { policy: policyParam },
    body,
    async handle({ key, actor, params, body, deps }) {
      const policy = await updatePolicy(deps.db, actor, { project: key.project, uuid: params.policy, body })
      return await shown(policy, key, deps)
    },
  }),
  write({
    ...common,
    method: 'delete',
    path: '/api/v3/policies/{policy}',
    operationId: 'deletePolicy',
    summary: 'Delete a policy',
    description:
      'The next policy that matches applies to its checks. Without one, their integrations are notified directly.',
    params: { policy: policyParam },
    async handle({ key, actor, params, deps }) {
      const policy = await deletePolicy(deps.db, actor, { project: key.project, uuid: params.policy })
      return await shown(policy, key, deps)
    },
  }),
  read({
    ...common,
    access: readWriteKey,
    path: '/api/v3/checks/{uuid}/rules',
    operationId: 'getRules',
    summary: 'Get the rules of a check',
    params: { uuid: uuidParam },
    errors: [...common.errors, 403],
    responses: {
      ...common.responses,
      200: { description: 'The rules.', content: json(rulesSchema) },
    },
    async handle({ key, params, deps }) {
      const { id } = await requireCheck(params.uuid, key, deps)
      return await findRules(deps.db, id)
    },
  }),
  write({
    ...common,
    path: '/api/v3/checks/{uuid}/rules',
    operationId: 'updateRules',
    summary: 'Change the rules of a check',
    description: 'Members that the request omits do not change; null resets to the default.',
    params: { uuid: uuidParam },
    body: { required: true, content: json(rulesSchema.partial()) },
    errors: [...common.errors, 403],
    responses: {
      ...common.responses,
      200: { description: 'The rules.', content: json(rulesSchema) },
    },
    async handle({ key, actor, params, body, deps }) {
      const own = await requireCheck(params.uuid, key, deps)
      return shownRules(await changeRules(deps.db, actor, { ...own, body }, deps))
    },
  }),
]

async function shown(policy: StoredPolicy, { project }: ProjectKey, deps: IngressDeps) {
  const view = await loadPolicyViews(deps.db, [policy], project.organisationId, deps)
  return view(policy)
}
