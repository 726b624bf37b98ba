import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import type { ClaimsQuery, CredentialQuery, PresentationQuery } from './query.ts'
import { RefusedPresentationError } from './refusal.ts'
import type { ClaimPath } from './sd-jwt.ts'

type QueryPath = ClaimsQuery['path']

/** A claim that was asked for and is there. */
export interface SelectedClaim {
  path: QueryPath
  value: JsonValue
}

/** Returns the name of a path in answers and events: joined by dots, `*` for every element. */
function nameOf(path: QueryPath): string {
  return path.map((part) => part ?? '*').join('.')
}

/** The names of everything that a query asks for, each once, in its order. */
export function requestedNames({ credentials }: PresentationQuery): string[] {
  return [...new Set(credentials.flatMap(({ claims }) => claims.map(({ path }) => nameOf(path))))]
}

/**
 * Returns every presented value with a unique name: its path, joined by dots. If a query has equal names, or a
 * credential is presented several times, names are the JSON of credential id, presentation (from 0) and path, for
 * example `["company",0,"name"]`.
 * @param answers in the order of the query
 */
export function namedClaims(
  query: PresentationQuery,
  answers: readonly { query: CredentialQuery; selected: readonly SelectedClaim[] }[],
): Map<string, JsonValue> {
  const presentations = new Map<string, number>()
  const claims = answers.flatMap(({ query: { id }, selected }) => {
    const presentation = presentations.get(id) ?? 0
    presentations.set(id, presentation + 1)
    return selected.map(({ path, value }) => ({ path, value, exact: JSON.stringify([id, presentation, ...path]) }))
  })
  const isPlain = !hasEqualNames(query) && [...presentations.values()].every((count) => count === 1)
  return new Map(claims.map(({ path, value, exact }) => [isPlain ? nameOf(path) : exact, value]))
}

/** Returns true if two different claims have one name, for example in two credentials. */
function hasEqualNames({ credentials }: PresentationQuery): boolean {
  const exact = credentials.flatMap(({ id, claims }) =>
    claims.map(({ path }) => ({ name: nameOf(path), claim: JSON.stringify([id, ...path]) })),
  )
  return new Set(exact.map(({ name }) => name)).size < new Set(exact.map(({ claim }) => claim)).size
}

/** What a path leads to: a key, an index, or null for every element (OpenID4VP section 7). */
function valuesAt(root: JsonValue, path: QueryPath): JsonValue[] {
  let found: JsonValue[] = [root]
  for (const part of path) {
    found = found.flatMap((value) => {
      if (part === null) return Array.isArray(value) ? value : []
      if (typeof part === 'number') return Array.isArray(value) ? value.slice(part, part + 1) : []
      const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
      return isObject && Object.hasOwn(value, part) ? [value[part] ?? null] : []
    })
  }
  return found
}

/** Whether the values are those that the query insists on: wallets need not look at them. */
function isWanted(values: readonly JsonValue[], { values: wanted }: ClaimsQuery): boolean {
  return wanted === undefined || values.some((value) => wanted.some((one) => one === value))
}

/**
 * The claims that a query asks for, in its order; with `claim_sets` those of the first set that is there.
 * @throws RefusedPresentationError CLAIM_MISSING, CLAIM_VALUE_MISMATCH
 */
export function selectClaims(claims: JsonObject, query: CredentialQuery): SelectedClaim[] {
  const sets = query.claim_sets?.map((set) => query.claims.filter(({ id }) => id !== undefined && set.includes(id)))
  let refusal = new RefusedPresentationError('CLAIM_MISSING')
  for (const set of sets ?? [query.claims]) {
    const found = set.map((claim) => ({ claim, values: valuesAt(claims, claim.path) }))
    if (found.some(({ values }) => values.length === 0)) continue
    if (found.every(({ claim, values }) => isWanted(values, claim))) {
      return found.map(({ claim, values }) => ({
        path: claim.path,
        value: claim.path.includes(null) ? values : (values[0] ?? null),
      }))
    }
    refusal = new RefusedPresentationError('CLAIM_VALUE_MISMATCH')
  }
  throw refusal
}

/** How many of the disclosed claims nobody asked for. */
export function countUnasked(disclosed: readonly ClaimPath[], query: CredentialQuery): number {
  return disclosed.filter((path) => !query.claims.some((claim) => isOnTheWay(path, claim.path))).length
}

/** Whether one path leads to, or past, the other. */
function isOnTheWay(path: ClaimPath, requested: QueryPath): boolean {
  return path.every((part, at) => {
    const wanted = requested[at]
    return at >= requested.length || wanted === part || (wanted === null && typeof part === 'number')
  })
}

/** Whether the credentials that were presented are those asked for. */
export function isSatisfied(query: PresentationQuery, presented: ReadonlySet<string>): boolean {
  const { credentials, credential_sets: sets } = query
  if (!sets) return credentials.every(({ id }) => presented.has(id))
  return sets.every(
    ({ options, required = true }) => !required || options.some((option) => option.every((id) => presented.has(id))),
  )
}
