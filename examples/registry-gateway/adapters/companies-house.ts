import { z } from 'zod'
import { RegistryCompanyAnswer } from '#shared/risk/registries/http/registry-companies.ts'
import { type Adapter, type Answer, envelopeAnswer, type GatewayRequest } from '../adapter.ts'
import { callProvider, createLimits, type Provider, type Work } from '../calls.ts'
import { filled, incomplete, keyedHash, notEntitled, notFound, parsed, parseJson, unparseable } from '../rules.ts'

export interface CompaniesHouseSettings {
  url: string
  key: string
}

const AUTHORITY = 'RA000585'
const PAGE_SIZE = 100
const MAX_PAGES = 3
const ADDRESS = ['address_line_1', 'address_line_2', 'locality', 'region', 'postal_code', 'country'] as const

/** Minimum share in hundredths of a percent; other natures of control are not a share of capital. */
const SHARES = new Map([
  ['ownership-of-shares-25-to-50-percent', 2500],
  ['ownership-of-shares-50-to-75-percent', 5000],
  ['ownership-of-shares-75-to-100-percent', 7500],
])

const text = z.string()
// An address may have more members, such as a post-office box, which the hash leaves out.
const addressMembers = Object.fromEntries(ADDRESS.map((member) => [member, text.optional()]))
const profile = z.object({
  company_name: filled,
  company_number: filled,
  company_status: filled,
  registered_office_address: z.object(addressMembers).optional(),
})
const officer = z.object({
  officer_role: text,
  resigned_on: text.optional(),
  links: z.object({ officer: z.object({ appointments: text }).optional() }).optional(),
})
const controller = z.object({
  kind: text,
  ceased_on: text.optional(),
  natures_of_control: z.array(text).optional(),
  identification: z.object({ registration_number: text.optional(), place_registered: text.optional() }).optional(),
})

/** Companies of the British register: name, status, directors, corporate holders. */
export function createCompaniesHouse(settings: CompaniesHouseSettings, hashKey: Buffer): Adapter {
  const provider: Provider = { adapter: 'companies-house', limits: createLimits(100), retryAfterSeconds: 300 }
  const base = settings.url.replace(/\/$/, '')
  const headers = { authorization: `Basic ${Buffer.from(`${settings.key}:`).toString('base64')}` }

  async function get(work: Work, path: string) {
    const response = await callProvider(provider, work, { method: 'GET', url: `${base}${path}`, headers })
    if (response.status === 401 || response.status === 403) throw notEntitled()
    if (response.status !== 200 && response.status !== 404) throw incomplete()
    return response.status === 404 ? null : parseJson(response.body)
  }

  /** Returns all items of a list; null if the register has no such list. */
  async function list<Item extends z.ZodType>(work: Work, path: string, item: Item): Promise<z.output<Item>[] | null> {
    const schema = z.object({ items: z.array(item).default([]), total_results: z.int().min(0) })
    const items: z.output<Item>[] = []
    for (let page = 0; page < MAX_PAGES; page++) {
      const body = await get(work, `${path}?items_per_page=${PAGE_SIZE}&start_index=${page * PAGE_SIZE}`)
      if (body === null) return null
      const read = parsed(schema, body)
      items.push(...read.items)
      if (items.length >= read.total_results) return items
      if (read.items.length === 0) break
    }
    throw unparseable('total_results')
  }

  async function answer(request: GatewayRequest, work: Work): Promise<Answer> {
    const [, , authority, number = ''] = request.path.split('/')
    if (authority !== AUTHORITY) throw notEntitled()
    if (!/^[0-9A-Z]{8}$/.test(number)) throw unparseable()
    const body = await get(work, `/company/${number}`)
    if (body === null) throw notFound()
    const company = parsed(profile, body)
    if (company.company_number !== number) throw unparseable('company_number')
    const officers = await list(work, `/company/${number}/officers`, officer)
    if (officers === null) throw incomplete()
    const controllers = await list(work, `/company/${number}/persons-with-significant-control`, controller)
    const office = company.registered_office_address
    const address = office ? ADDRESS.flatMap((member) => office[member] ?? []).join(', ') : null
    const addressHash = keyedHash(hashKey, 'address', address)
    const directorIds = officers.filter(isDirector).map(officerId)
    const notCompared = ['HOLDING', 'BANK_ACCOUNT', 'PHONE', 'EMAIL']
    // Partnerships have members and no directors, so that an empty list would claim too much.
    if (directorIds.length === 0) notCompared.push('DIRECTOR')
    if (addressHash === null) notCompared.push('ADDRESS')
    return envelopeAnswer(RegistryCompanyAnswer, work, {
      asOf: null,
      consent: null,
      data: {
        authority: AUTHORITY,
        companyNumber: number,
        legalName: company.company_name,
        status: company.company_status.toUpperCase().replaceAll('-', '_'),
        directorIds,
        heldBy: controllers === null ? null : controllers.flatMap(holderOf),
        addressHash,
        notCompared,
      },
    })
  }

  return {
    name: 'companies-house',
    operations: ['/registry-companies/{authority}/{number}'],
    mappings: {
      '/registry-companies/{authority}/{number}': {
        members: {
          companyNumber: 'company_number',
          legalName: 'company_name',
          status: 'company_status',
          directorIds: 'officers: items[].links.officer.appointments',
          heldBy: 'persons-with-significant-control: items[].identification, natures_of_control',
          addressHash: 'registered_office_address',
        },
      },
    },
    answer,
    health: (nowMs) => ({ placesLeft: provider.limits.placesLeft(nowMs), tokenUntil: null }),
  }
}

function isDirector({ officer_role, resigned_on }: z.output<typeof officer>): boolean {
  return officer_role.includes('director') && resigned_on === undefined
}

// One person may have several ids: equal ids are a fact, different ones are not.
function officerId({ links }: z.output<typeof officer>): string {
  const id = /^\/officers\/([^/]+)\/appointments$/.exec(links?.officer?.appointments ?? '')?.[1]
  if (id === undefined) throw unparseable('items.links.officer.appointments')
  return `GB-COH:${id}`
}

function holderOf({ kind, ceased_on, natures_of_control, identification }: z.output<typeof controller>) {
  if (!kind.startsWith('corporate-entity') || ceased_on !== undefined) return []
  const shares = (natures_of_control ?? []).map((nature) => SHARES.get(nature) ?? 0)
  const minBasisPoints = Math.max(0, ...shares)
  if (minBasisPoints === 0) return []
  const isHere = /companies house/i.test(identification?.place_registered ?? '')
  const companyNumber = identification?.registration_number?.trim() || null
  return [{ authority: isHere ? AUTHORITY : null, companyNumber, minBasisPoints }]
}
