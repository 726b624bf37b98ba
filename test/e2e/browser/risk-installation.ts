import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { Family } from '#shared/tenancy/oauth/families.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { insertEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { createTeam, join, password, type Team } from '../../ingress/web/people.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'

export interface RiskInstallation extends AsyncDisposable {
  app: HttpProduct
  team: Team
  /** where the sandbox console of the team is */
  base: string
}

/**
 * Pages, composer, log and deliverer in this process, and an organisation with an owner.
 * @param families beside the packs, with the workers that they need
 */
export async function openRiskInstallation(
  families: readonly Family[] = [],
  workers: readonly string[] = [],
): Promise<RiskInstallation> {
  const app = await openProduct({
    listener: 'http',
    workers: ['pack-composer', 'anchor', 'webhook-deliverer', 'sweeper', ...workers],
  })
  const team = await createTeam(app, 'Acme Finance')
  await join(app, team, 'owner')
  await grantFamilies(app.deps.db, team.organisationId, ['risk-signals', ...families])
  const base = `${app.url}/organisations/${team.organisationUuid}/risk/sandbox`
  return { app, team, base, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

export async function signInAsOwner({ app }: RiskInstallation, page: Page): Promise<void> {
  await page.goto(`${app.url}/sign-in`)
  await page.getByLabel('E-mail address').fill('owner@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'))
}

/** The page of a pack, which loads itself anew until the pack has its place in the log, and not again. */
export async function settledPack(page: Page): Promise<void> {
  await page.getByText(/[0-9]+ in a tree of [0-9]+/).waitFor()
}

/** Requests a sandbox pack on the form as it is offered. @returns its id; the browser is on its page */
export async function makePack({ base }: RiskInstallation, page: Page): Promise<string> {
  await page.goto(`${base}/packs/new`)
  await page.getByRole('button', { name: 'Request pack' }).click()
  await settledPack(page)
  const id = new URL(page.url()).pathname.split('/').at(-1)
  if (!id) throw new Error(`no pack in ${page.url()}`)
  return id
}

/** An endpoint for every event. @returns its id */
export async function addEndpoint({ app, team }: RiskInstallation, env: 'SANDBOX' | 'PRODUCTION', url: string) {
  const { db, secrets } = app.deps
  const { id } = await insertEndpoint(db, {
    id: randomUUID(),
    organisationId: team.organisationId,
    env,
    url,
    description: 'Loan system',
    eventTypes: ['*'],
    ordered: false,
    sealedSecret: secrets.seal('webhook-secret', `whsec_${Buffer.alloc(32, 7).toString('base64')}`),
  })
  return id
}
