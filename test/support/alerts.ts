import type { Knex } from 'knex'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { insertIntegration, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'

interface Deps {
  db: Knex
  secrets: Secrets
}

/** An integration that notifies a URL of every change, with the path `/down` or `/up`. */
export async function addWebhook(deps: Deps, projectId: number, url: string): Promise<StoredIntegration> {
  const side = (name: 'down' | 'up') => ({
    [`url_${name}`]: `${url}/${name}`,
    [`method_${name}`]: 'POST',
    [`body_${name}`]: '$CODE',
    [`headers_${name}`]: {},
  })
  return await add(deps, projectId, 'webhook', { ...side('down'), ...side('up') })
}

/** An integration that people read: a chat room at a URL. */
export async function addChat(deps: Deps, projectId: number, url: string): Promise<StoredIntegration> {
  return await add(deps, projectId, 'slack', { url })
}

/** An integration that mails every change. */
export async function addMail(deps: Deps, projectId: number, address: string): Promise<StoredIntegration> {
  return await add(deps, projectId, 'email', { value: address, down: true, up: true })
}

async function add(
  { db, secrets }: Deps,
  projectId: number,
  kind: string,
  config: unknown,
): Promise<StoredIntegration> {
  return await insertIntegration(db, {
    projectId,
    kind,
    name: kind,
    sealedConfig: secrets.seal('integration', JSON.stringify(config)),
  })
}

/** Assigns all the integrations to each of the checks. */
export async function notify(
  db: Knex,
  checks: readonly Check[],
  integrations: readonly StoredIntegration[],
): Promise<void> {
  const pairs = checks.flatMap((check) =>
    integrations.map((integration) => ({ check_id: check.id, integration_id: integration.id })),
  )
  await db.batchInsert('check_integrations', pairs, 500)
}
