import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { IncomingResponse } from '#shared/risk/registries/connector.ts'
import { GroupAnswer } from '#shared/risk/registries/http/groups.ts'
import { type Adapter, type Answer, envelopeAnswer, type GatewayRequest, PATTERNS, parameter } from '../adapter.ts'
import { callProvider, createLimits, type Provider, type Work } from '../calls.ts'
import { incomplete, instantOf, isFinal, notFound, parsed, parseJson, Refusal, unparseable } from '../rules.ts'

export interface GleifSettings {
  url: string
}

const ACCEPT = { accept: 'application/vnd.api+json' }
/** The register publishes a golden copy three times a day. */
const CACHE_MS = 8 * 3_600_000
const MAX_CACHE_BYTES = 64 * 1024 * 1024
const FILTERS = ['filter[entity.registeredAs]', 'filter[entity.legalName]']

const meta = z.object({ goldenCopy: z.object({ publishDate: z.string() }) })
const lei = z.string().regex(/^[0-9A-Z]{18}[0-9]{2}$/)
const parentLinks = z
  .object({
    links: z.object({ 'relationship-record': z.string().optional(), 'reporting-exception': z.string().optional() }),
  })
  .optional()
const record = z.object({
  attributes: z.object({
    lei,
    entity: z.object({
      registeredAt: z.object({ id: z.string().nullish() }).nullish(),
      registeredAs: z.string().nullish(),
      jurisdiction: z.string().nullish(),
    }),
  }),
  relationships: z.object({ 'direct-parent': parentLinks, 'ultimate-parent': parentLinks }).optional(),
})
const page = z.object({ meta, data: z.array(record) })
const single = z.object({ meta, data: record })
const relationship = z.object({
  data: z.object({
    attributes: z.object({
      relationship: z.object({ startNode: z.object({ id: lei }), endNode: z.object({ id: lei }), status: z.string() }),
      registration: z.object({ corroborationLevel: z.string().nullish() }),
    }),
  }),
})
const exception = z.object({ data: z.object({ attributes: z.object({ lei, reason: z.string().min(1) }) }) })

type Kind = 'direct-parent' | 'ultimate-parent'

/** The link of one kind: an active relationship, the register's reason for none, or neither. */
interface Parent {
  lei: string | null
  exception: string | null
  corroborationLevel: string | null
}

/** Public LEI records, passed through unchanged, and accounting parents of a company. */
export class GleifAdapter implements Adapter {
  readonly name = 'gleif'
  readonly operations = ['/lei-records', '/lei-records/{lei}', '/groups']
  readonly mappings = mappings
  readonly #provider: Provider = { adapter: 'gleif', limits: createLimits(50), retryAfterSeconds: 60 }
  readonly #base: string
  readonly #kept = new LRUCache<string, { answer: Answer; until: number }>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: ({ answer }) => answer.body.length + 500,
  })
  #publishedAt: string | null = null

  constructor(settings: GleifSettings) {
    this.#base = settings.url.replace(/\/$/, '')
  }

  answer(request: GatewayRequest, work: Work): Promise<Answer> {
    return request.path === '/groups' ? this.#group(request, work) : this.#records(request, work)
  }

  health(nowMs: number) {
    const placesLeft = this.#provider.limits.placesLeft(nowMs)
    return { placesLeft, tokenUntil: null, publishedAt: this.#publishedAt }
  }

  #get(work: Work, path: string) {
    return callProvider(this.#provider, work, { method: 'GET', url: `${this.#base}${path}`, headers: ACCEPT })
  }

  async #records(request: GatewayRequest, work: Work): Promise<Answer> {
    const path = recordsPath(request)
    const cached = this.#kept.get(path)
    if (cached && cached.until > work.deps.now()) return cached.answer
    const response = await this.#get(work, path)
    if (response.status === 404) throw notFound()
    if (response.status !== 200) throw isFinal(response.status) ? incomplete() : new Refusal(502, 'UPSTREAM_ERROR')
    const type = [response.headers['content-type'] ?? 'application/vnd.api+json'].flat()[0] ?? ''
    const answer = { status: 200, headers: { 'content-type': type }, body: response.body }
    this.#kept.set(path, { answer, until: work.deps.now() + CACHE_MS })
    this.#publishedAt = publishDateOf(response) ?? this.#publishedAt
    return answer
  }

  async #group(request: GatewayRequest, work: Work): Promise<Answer> {
    const cin = parameter(request, 'cin', PATTERNS.cin)
    const found = await body(page, this.#get(work, `/lei-records${filtered('entity.registeredAs', cin)}`))
    const entries = found.data.filter(
      ({ attributes: { entity } }) =>
        entity.registeredAs?.toUpperCase() === cin.toUpperCase() && entity.jurisdiction === 'IN',
    )
    const [entry] = entries
    if (!entry) throw notFound()
    if (entries.length > 1) throw unparseable()
    const direct = await this.#parentOf(entry, 'direct-parent', work)
    const ultimate = await this.#parentOf(entry, 'ultimate-parent', work)
    const parents = await this.#parentRecords(new Set([direct.lei, ultimate.lei].filter((id) => id !== null)), work)
    const described = ({ lei: id, corroborationLevel }: Parent) => {
      if (id === null) return null
      const parent = parents.get(id)
      if (!parent) throw unparseable()
      return { lei: id, ...parent, relationshipStatus: 'ACTIVE', corroborationLevel }
    }
    return envelopeAnswer(GroupAnswer, work, {
      asOf: instantOf(found.meta.goldenCopy.publishDate),
      consent: null,
      data: {
        cin,
        lei: entry.attributes.lei,
        directParent: described(direct),
        directParentException: direct.exception,
        ultimateParent: described(ultimate),
        ultimateParentException: ultimate.exception,
      },
    })
  }

  async #parentOf(entry: z.output<typeof record>, kind: Kind, work: Work): Promise<Parent> {
    const links = entry.relationships?.[kind]?.links
    const own = entry.attributes.lei
    const none: Parent = { lei: null, exception: null, corroborationLevel: null }
    // Addresses are built from the identifier: a link of an answer may name another host.
    if (links?.['relationship-record']) {
      const { data } = await body(relationship, this.#get(work, `/lei-records/${own}/${kind}-relationship`))
      const { relationship: link, registration } = data.attributes
      if (link.startNode.id !== own) throw unparseable()
      if (link.status !== 'ACTIVE') return none
      return { ...none, lei: link.endNode.id, corroborationLevel: registration.corroborationLevel ?? null }
    }
    if (!links?.['reporting-exception']) return none
    const { data } = await body(exception, this.#get(work, `/lei-records/${own}/${kind}-reporting-exception`))
    if (data.attributes.lei !== own) throw unparseable()
    return { ...none, exception: data.attributes.reason }
  }

  async #parentRecords(ids: ReadonlySet<string>, work: Work) {
    const [first] = ids
    if (first === undefined) return new Map<string, ReturnType<typeof registrationOf>>()
    const list =
      ids.size === 1
        ? [(await body(single, this.#get(work, `/lei-records/${first}`))).data]
        : (await body(page, this.#get(work, `/lei-records${filtered('lei', [...ids].join(','))}`))).data
    return new Map(list.map((entry) => [entry.attributes.lei, registrationOf(entry)]))
  }
}

const mappings: Adapter['mappings'] = {
  '/lei-records/{lei}': { members: { attributes: 'data.attributes, passed through unchanged' } },
  '/groups': {
    members: {
      cin: 'data[].attributes.entity.registeredAs',
      lei: 'data[].attributes.lei',
      directParent: 'direct-parent-relationship: data.attributes.relationship.endNode.id, and that record',
      directParentException: 'direct-parent-reporting-exception: data.attributes.reason',
      ultimateParent: 'ultimate-parent-relationship: data.attributes.relationship.endNode.id, and that record',
      ultimateParentException: 'ultimate-parent-reporting-exception: data.attributes.reason',
      asOf: 'meta.goldenCopy.publishDate',
    },
  },
}

async function body<Schema extends z.ZodType>(
  schema: Schema,
  call: Promise<IncomingResponse>,
): Promise<z.output<Schema>> {
  const response = await call
  if (response.status !== 200) throw incomplete()
  return parsed(schema, parseJson(response.body))
}

function registrationOf({ attributes: { entity } }: z.output<typeof record>) {
  return {
    registeredAt: entity.registeredAt?.id ?? null,
    registeredAs: entity.registeredAs ?? null,
    jurisdiction: entity.jurisdiction ?? null,
  }
}

function filtered(member: string, value: string): string {
  return `?${new URLSearchParams({ [`filter[${member}]`]: value, 'page[size]': '10' })}`
}

/** Lets only the requests of the product through. @throws Refusal NOT_FOUND */
function recordsPath({ path, query }: GatewayRequest): string {
  const names = Object.keys(query)
  if (path !== '/lei-records') {
    if (names.length > 0 || !/^\/lei-records\/[0-9A-Za-z]{20}$/.test(path)) throw notFound()
    return path
  }
  const filter = FILTERS.find((name) => names.includes(name))
  if (filter === undefined || names.length !== 2 || query['page[size]'] !== '10') throw notFound()
  return `${path}?${new URLSearchParams({ [filter]: query[filter] ?? '', 'page[size]': '10' })}`
}

function publishDateOf({ body: bytes }: IncomingResponse): string | null {
  try {
    return z.object({ meta }).parse(JSON.parse(bytes.toString('utf8'))).meta.goldenCopy.publishDate
  } catch {
    return null
  }
}

/** Suggestions of the register for a name, for a person at a terminal; no request of the contract uses them. */
export async function nameSuggestions(settings: GleifSettings, work: Work, text: string): Promise<string[]> {
  const provider: Provider = { adapter: 'gleif', limits: createLimits(50), retryAfterSeconds: 60 }
  const query = new URLSearchParams({ field: 'entity.legalName', q: text })
  const url = `${settings.url.replace(/\/$/, '')}/fuzzycompletions?${query}`
  const response = await callProvider(provider, work, { method: 'GET', url, headers: ACCEPT })
  if (response.status !== 200) throw incomplete()
  const answer = z.object({ data: z.array(z.object({ attributes: z.object({ value: z.string() }) })) })
  return parsed(answer, parseJson(response.body)).data.map(({ attributes }) => attributes.value)
}
