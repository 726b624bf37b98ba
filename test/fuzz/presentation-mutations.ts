import { hash } from 'node:crypto'
import { signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import type { Random } from '../support/random.ts'
import type { KeyPair } from '../support/test-issuer.ts'

/** Parts of a valid presentation. */
export interface Good {
  /** an SD-JWT VC with every disclosure, without key binding */
  credential: string
  holder: KeyPair
  /** an untrusted key */
  foreign: KeyPair
  /** requested claims, all of them disclosed */
  claims: readonly string[]
}

/** Request of the presentation. */
export interface Answered {
  nonce: string
  state: string
  clientId: string
}

type Json = Record<string, unknown>

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
// biome-ignore lint/suspicious/noExplicitAny: parts of tokens, of any form
const decode = (text: string): any => JSON.parse(Buffer.from(text, 'base64url').toString())
const partsOf = (presentation: string) => presentation.split('~')

/** Binds a credential to a request by the holder's key, or by another one. */
export async function bind(bound: string, answered: Answered, key: KeyPair): Promise<string> {
  return bound + (await keyBinding(claimsFor(bound, answered), key))
}

const claimsFor = (bound: string, { nonce, clientId }: Answered): Json => ({
  iat: Math.floor(Date.now() / 1000),
  aud: clientId,
  nonce,
  sd_hash: hash('sha256', bound, 'base64url'),
})

const keyBinding = (claims: Json, key: KeyPair, typ = 'kb+jwt') => signJwt(claims, { typ }, key.privateJwk)

/** Removes, swaps, shortens or replaces one member. */
function spoil(random: Random, members: Json): Json {
  const names = Object.keys(members)
  const [name, other] = [random.pick(names), random.pick(names)]
  const value = members[name]
  const kind = random.int(4)
  if (kind === 0 || (kind === 1 && name === other)) {
    return Object.fromEntries(Object.entries(members).filter(([key]) => key !== name))
  }
  if (kind === 1) return { ...members, [name]: members[other], [other]: value }
  if (kind === 2 && typeof value === 'string') return { ...members, [name]: value.slice(0, random.int(value.length)) }
  return {
    ...members,
    [name]: random.pick([null, [], {}, '', -1, 'x'.repeat(random.int(3_000)), [value], { a: value }]),
  }
}

/** Removes a part of a text, or changes one character. */
function spoilText(random: Random, text: string): string {
  const at = random.int(text.length)
  switch (random.int(4)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(at + 1)
    case 2:
      return text.slice(0, at) + text.slice(at + 1)
    default: {
      const others = ['A', 'B', '-', '_', '~', '.', '=', '\u0000', 'é'].filter((one) => one !== text[at])
      return text.slice(0, at) + random.pick(others) + text.slice(at + 1)
    }
  }
}

type Mutation = (random: Random, good: Good, answered: Answered) => Promise<string>

/** Removes, duplicates, moves or shortens a part after the holder signed. */
const structure: Mutation = async (random, good, answered) => {
  const whole = await bind(good.credential, answered, good.holder)
  const parts = partsOf(whole)
  const at = random.int(parts.length)
  const to = random.int(parts.length)
  const [moved = ''] = parts.splice(at, 1)
  const kind = random.int(4)
  if (kind === 1) parts.splice(at, 0, moved, moved)
  if (kind === 2) parts.splice(to, 0, moved)
  if (kind === 3) parts.splice(at, 0, spoilText(random, moved))
  const made = parts.join('~')
  return made === whole ? made.slice(1) : made
}

/** Changes the data that the issuer signed: keeps the old signature, or signs with another key under its name. */
const issued: Mutation = async (random, good, answered) => {
  const [jwt = '', ...disclosures] = partsOf(good.credential)
  const [header = '', payload = '', signature = ''] = jwt.split('.')
  const isHeader = random.oneIn(3)
  const changedHeader = isHeader ? spoil(random, decode(header)) : decode(header)
  const changedPayload = isHeader ? decode(payload) : spoil(random, decode(payload))
  const { alg: _alg, ...named } = changedHeader
  const forged = random.oneIn(2)
    ? await signJwt(changedPayload, named as { typ: string }, good.foreign.privateJwk)
    : [encode(changedHeader), encode(changedPayload), signature].join('.')
  return await bind([forged, ...disclosures].join('~'), answered, good.holder)
}

/** Signs the complete credential with another key under the name of the issuer. */
const resigned: Mutation = async (_random, good, answered) => {
  const [jwt = '', ...disclosures] = partsOf(good.credential)
  const [header = '', payload = ''] = jwt.split('.')
  const { alg: _alg, ...named } = decode(header)
  const forged = await signJwt(decode(payload), named, good.foreign.privateJwk)
  return await bind([forged, ...disclosures].join('~'), answered, good.holder)
}

/** Changes or removes a disclosure before the holder signs. */
const disclosed: Mutation = async (random, good, answered) => {
  const parts = partsOf(good.credential)
  const at = 1 + random.int(parts.length - 2)
  const [salt, name, value] = decode(parts[at] ?? '')
  const changed = random.pick([
    [salt, name],
    [name, salt, value],
    [salt, name, String(value).slice(1)],
    [salt, `${name}x`, value],
    [salt, value],
    [salt, '_sd', value],
    [],
    { [name]: value },
  ])
  parts.splice(
    at,
    1,
    ...(random.oneIn(5) ? [] : [random.oneIn(4) ? spoilText(random, parts[at] ?? '') : encode(changed)]),
  )
  return await bind(parts.join('~'), answered, good.holder)
}

/** Lets the holder sign other claims. */
const bound: Mutation = async (random, good, answered) => {
  const claims = claimsFor(good.credential, answered)
  if (random.oneIn(6))
    return good.credential + (await keyBinding(claims, good.holder, random.pick(['JWT', 'dc+sd-jwt', ''])))
  return good.credential + (await keyBinding(spoil(random, claims), good.holder))
}

/** Signs with another key instead of the holder's. */
const stolen: Mutation = async (random, good, answered) => {
  const changed = random.oneIn(2) ? good.credential : good.credential.slice(0, -1 - random.int(40))
  return await bind(changed, answered, good.foreign)
}

/** Replays the holder's signature for another request. */
const replayed: Mutation = async (random, good, answered) => {
  const other = { ...answered, [random.pick(['nonce', 'clientId'])]: random.pick([answered.state, 'x', '']) }
  return await bind(good.credential, other, good.holder)
}

/** Changes any character. */
const text: Mutation = async (random, good, answered) =>
  spoilText(random, await bind(good.credential, answered, good.holder))

export const MUTATIONS = { structure, issued, resigned, disclosed, bound, stolen, replayed, text } as const

/** Returns a `vp_token`, mutated at random, and always if its presentations are valid. */
export function tokenOf(random: Random, presentation: string, isWhole: boolean): unknown {
  if (!isWhole) return { company: [presentation] }
  return random.pick([
    { other: [presentation] },
    { company: [presentation], other: [presentation] },
    { company: [presentation, presentation] },
    { company: presentation },
    { company: [] },
    { company: [[presentation]] },
    { company: [{ presentation }] },
    [{ company: [presentation] }],
    {},
    null,
    presentation,
    { company: [presentation, null] },
    { COMPANY: [presentation] },
  ])
}

/** A form with one field removed, duplicated, exchanged or shortened. */
export function spoilForm(random: Random, form: URLSearchParams): URLSearchParams {
  const fields = [...form]
  const at = random.int(fields.length)
  const [name = '', value = ''] = fields[at] ?? []
  const kind = random.int(4)
  if (kind === 0) fields.splice(at, 1)
  if (kind === 1) fields.splice(at, 1, [name, spoilText(random, value)])
  if (kind === 2) fields.splice(at, 1, [name, value], [name, value])
  if (kind === 3) fields.splice(at, 1, [`${name}s`, value])
  return new URLSearchParams(fields)
}
