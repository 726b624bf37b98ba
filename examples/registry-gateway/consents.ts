import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { GatewayRequest } from './adapter.ts'
import { heldSchema } from './adapters/setu-read.ts'
import { noConsent, sha256 } from './rules.ts'
import type { Store } from './store.ts'

const upstream = z.object({ host: z.string(), status: z.number(), sha256: z.string(), at: z.string() })

/** A consent of one taxpayer. It is stored under the SHA-256 of its handle; times are milliseconds since the epoch. */
const consentSchema = z.object({
  kind: z.literal('CONSENT'),
  pan: z.string(),
  gstins: z.array(z.string()),
  /** the first organisation that used the handle */
  organisation: z.string().nullable(),
  consentId: z.string(),
  status: z.enum(['PENDING', 'ACTIVE', 'REJECTED', 'FAILED', 'REVOKED', 'PAUSED', 'EXPIRED']),
  consentTypes: z.array(z.string()),
  fiTypes: z.array(z.string()),
  purposeCode: z.string().nullable(),
  expiresAt: z.string().nullable(),
  dataRange: z.object({ from: z.string(), to: z.string() }).nullable(),
  createdAt: z.number(),
  /** time of the next poll of the status */
  nextAt: z.number(),
  confirmedAt: z.number().nullable(),
  confirmation: upstream.nullable(),
  session: z.object({ id: z.string(), startedAt: z.number() }).nullable(),
  sessions: z.number(),
  held: heldSchema.nullable(),
  /** the fetched data was deleted after its lifetime */
  isDataEnded: z.boolean(),
  failure: z
    .object({
      status: z.number(),
      code: z.literal('UPSTREAM_ERROR'),
      until: z.number().nullable(),
    })
    .nullable(),
})

/** A handle of several consents, because a pack has one handle for two taxpayers. */
const joinedSchema = z.object({
  kind: z.literal('JOINED'),
  members: z.array(z.string()),
  organisation: z.string().nullable(),
})

const recordSchema = z.discriminatedUnion('kind', [consentSchema, joinedSchema])

export type ConsentRecord = z.infer<typeof consentSchema>

/** A consent with the name of its file. */
export interface NamedConsent {
  name: string
  record: ConsentRecord
}

interface NewConsent {
  pan: string
  gstins: readonly string[]
  organisation: string | null
  consentId: string
  /** the requested types; absent if only the aggregator knows them */
  fiTypes?: readonly string[]
  nowMs: number
}

export interface Consents {
  create(input: NewConsent): string
  /** Returns a handle for all subjects of the given handles. @throws Refusal NO_CONSENT for an unknown one */
  join(handles: readonly string[], organisation: string | null): string
  save(consent: NamedConsent): void
  remove(name: string): void
  /** Returns the consents that a handle names; empty for an unknown one. */
  named(handle: string): NamedConsent[]
  /** Returns the consent of a handle for a subject. @throws Refusal NO_CONSENT */
  covering(request: GatewayRequest, covers: (record: ConsentRecord) => boolean): NamedConsent
  all(): NamedConsent[]
  byId(consentId: string): NamedConsent | undefined
  /** Stores consents under a given handle, for tests with recorded handles. */
  adopt(handle: string, records: readonly NewConsent[]): void
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const HANDLE_LENGTH = 26

/** Opens the consents of a state folder. */
export function openConsents(store: Store): Consents {
  const nameOf = (handle: string) => sha256(handle)
  // Concurrent requests must see the same record, so that a consent is fetched once. One process uses the folder.
  const records = new Map<string, z.infer<typeof recordSchema>>()
  const read = (name: string) => {
    const known = records.get(name)
    if (known) return known
    const value = store.read(name)
    if (value === undefined) return undefined
    const record = recordSchema.parse(value)
    records.set(name, record)
    return record
  }
  const write = (name: string, record: z.infer<typeof recordSchema>) => {
    records.set(name, record)
    store.write(name, record)
  }
  const consents = (names: readonly string[]): NamedConsent[] =>
    names.flatMap((name) => {
      const record = read(name)
      return record?.kind === 'CONSENT' ? [{ name, record }] : []
    })
  const named = (handle: string) => {
    const record = read(nameOf(handle))
    return consents(record?.kind === 'JOINED' ? record.members : [nameOf(handle)])
  }
  const all = () => consents(store.names())

  return {
    named,
    all,
    save: ({ name, record }) => write(name, record),
    remove(name) {
      records.delete(name)
      store.remove(name)
    },
    byId: (consentId) => all().find(({ record }) => record.consentId === consentId),
    create(input) {
      const handle = newHandle()
      write(nameOf(handle), freshRecord(input))
      return handle
    },
    adopt(handle, inputs) {
      const members = inputs.map((_, index) => sha256(`${handle} ${index}`))
      for (const [index, input] of inputs.entries()) write(members[index] ?? '', freshRecord(input))
      write(nameOf(handle), { kind: 'JOINED', members, organisation: null })
    },
    join(handles, organisation) {
      const members = handles.flatMap((handle) => {
        const found = named(handle)
        if (found.length === 0) throw noConsent()
        return found.map(({ name }) => name)
      })
      const handle = newHandle()
      write(nameOf(handle), { kind: 'JOINED', members: [...new Set(members)], organisation })
      return handle
    },
    covering({ handle, organisation }, covers) {
      if (handle === null) throw noConsent()
      const outer = read(nameOf(handle))
      const found = named(handle).find(({ record }) => covers(record))
      if (!outer || !found) throw noConsent()
      if (organisation !== null && outer.organisation !== null && outer.organisation !== organisation) throw noConsent()
      if (organisation !== null && outer.organisation === null) {
        outer.organisation = organisation
        write(nameOf(handle), outer)
      }
      return found
    },
  }
}

function freshRecord({ pan, gstins, organisation, consentId, fiTypes = [], nowMs }: NewConsent): ConsentRecord {
  return {
    kind: 'CONSENT',
    pan,
    gstins: [...gstins],
    organisation,
    consentId,
    status: 'PENDING',
    consentTypes: [],
    fiTypes: [...fiTypes],
    purposeCode: null,
    expiresAt: null,
    dataRange: null,
    createdAt: nowMs,
    nextAt: nowMs,
    confirmedAt: null,
    confirmation: null,
    session: null,
    sessions: 0,
    held: null,
    isDataEnded: false,
    failure: null,
  }
}

/** 26 characters of base32: 130 random bits. */
function newHandle(): string {
  return `gwc_${[...randomBytes(HANDLE_LENGTH)].map((byte) => BASE32[byte % 32]).join('')}`
}
