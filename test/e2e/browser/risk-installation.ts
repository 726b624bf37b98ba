import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { FAMILIES, type Family } from '#shared/tenancy/oauth/families.ts'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { insertEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { type Account, addAccount, shared, visitorOf } from './installation.ts'

const WORKERS = [
  ...['pack-composer', 'anchor', 'webhook-deliverer', 'sweeper', 'tape-importer', 'provenance-composer'],
  ...['presentation-verifier', 'identity-verifier', 'kyb-verifier', 'financing-registrar'],
  ...['acceptance-recorder', 'dilution-measurer', 'pool-builder'],
]

/** The product that risk tests share: pages and the workers of every API family in this process. */
const sharedRiskInstallation = shared(() => openProduct({ listener: 'http', workers: WORKERS }))

/** The owner of an organisation that may use the risk console. */
export interface RiskAccount extends Account {
  /** the address of the sandbox console */
  base: string
}

/** Adds the owner of a new organisation to the product that risk tests share. By default it may use every API family. */
export async function addRiskAccount(families: readonly Family[] = FAMILIES): Promise<RiskAccount> {
  const app = await sharedRiskInstallation()
  const account = await addAccount(app)
  await grantFamilies(app.deps.db, account.organisation.id, families)
  return { ...account, base: `${app.url}/organisations/${account.organisation.uuid}/risk/sandbox` }
}

/** Waits on the page of a pack, which reloads itself until the pack has a position in the log. */
export async function settledPack(page: Page): Promise<void> {
  await page.getByText(/[0-9]+ in a tree of [0-9]+/).waitFor()
}

/** Requests a sandbox pack on the form with its default values. Returns its id; the browser shows its page. */
export async function requestPack({ base }: RiskAccount, page: Page): Promise<string> {
  await page.goto(`${base}/packs/new`)
  await page.getByRole('button', { name: 'Request pack' }).click()
  await settledPack(page)
  const id = new URL(page.url()).pathname.split('/').at(-1)
  if (!id) throw new Error(`no pack in ${page.url()}`)
  return id
}

/** Requests a sandbox pack without a browser, and waits for its position in the log. Returns its id. */
export async function addPack(account: RiskAccount): Promise<string> {
  const visitor = await visitorOf(account)
  const form = `${new URL(account.base).pathname}/packs/new`
  const { location } = (await visitor.post(form, { requestKey: randomUUID(), ...PACK })).headers
  const id = location?.split('/').at(-1)
  if (!location || !id) throw new Error('the pack was not requested')
  await eventually('the pack to be in the log', async () =>
    /in a tree of [0-9]/.test((await visitor.get(location)).text),
  )
  return id
}

const PACK = {
  buyerGstin: '27AAACB1234C1ZF',
  borrowerGstin: '29AAACR5678D1Z5',
  subcontractorGstin: '24AAFFS4321K1ZA',
  poValue: '1250000',
}

/** Adds an endpoint for every event. Returns its id. */
export async function addEndpoint({ app, organisation }: RiskAccount, env: 'SANDBOX' | 'PRODUCTION', url: string) {
  const { db, secrets } = app.deps
  const { id } = await insertEndpoint(db, {
    id: randomUUID(),
    organisationId: organisation.id,
    env,
    url,
    description: 'Loan system',
    eventTypes: ['*'],
    ordered: false,
    sealedSecret: secrets.seal('webhook-secret', `whsec_${Buffer.alloc(32, 7).toString('base64')}`),
  })
  return id
}
