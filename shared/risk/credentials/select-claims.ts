import type { JsonObject, JsonValue } from '../../canonical/parse-json.ts'
import type { ClaimsQuery, CredentialQuery, PresentationQuery } from './query.ts'
import { RefusedPresentationError } from './refusal.ts'
import type { ClaimPath } from './sd-jwt.ts'

type QueryPath = ClaimsQuery['path']

export interface SelectedClaim {
  path: QueryPath
  value: JsonValue
}

/** Joins by dots; `*` is every element. */
function nameOf(path: QueryPath): string {
  return path.map((part) => part ?? '*').join('.')
}

export function requestedNames({ credentials }: PresentationQuery): string[] {
  return [...new Set(credentials.flatMap(({ claims }) => claims.map(({ path }) => nameOf(path))))]
}

/**
 * Names are paths, joined by dots. With equal names or several presentations, they are the JSON of credential id,
 * presentation and path, for example `["company",0,"name"]`.
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

function hasEqualNames({ credentials }: PresentationQuery): boolean {
  const exact = credentials.flatMap(({ id, claims }) =>
    claims.map(({ path }) => ({ name: nameOf(path), claim: JSON.stringify([id, ...path]) })),
  )
  return new Set(exact.map(({ name }) => name)).size < new Set(exact.map(({ claim }) => claim)).size
}

/** A path has keys, indexes, and nulls for every element (OpenID4VP section 7). */
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

/** Wallets may ignore the required values. */
function isWanted(values: readonly JsonValue[], { values: wanted }: ClaimsQuery): boolean {
  return wanted === undefined || values.some((value) => wanted.some((one) => one === value))
}

/** In the order of the query. @throws RefusedPresentationError */
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

export function countUnasked(disclosed: readonly ClaimPath[], query: CredentialQuery): number {
  return disclosed.filter((path) => !query.claims.some((claim) => isOnTheWay(path, claim.path))).length
}

function isOnTheWay(path: ClaimPath, queryPath: QueryPath): boolean {
  return path.every((part, at) => {
    const wanted = queryPath[at]
    return at >= queryPath.length || wanted === part || (wanted === null && typeof part === 'number')
  })
}

export function isSatisfied(query: PresentationQuery, presented: ReadonlySet<string>): boolean {
  const { credentials, credential_sets: sets } = query
  if (!sets) return credentials.every(({ id }) => presented.has(id))
  return sets.every(
    ({ options, required = true }) => !required || options.some((option) => option.every((id) => presented.has(id))),
  )
}
