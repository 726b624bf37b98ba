import type { JsonObject } from '../../canonical/parse-json.ts'
import type { CredentialQuery, PresentationQuery } from './query.ts'
import { RefusedPresentationError } from './refusal.ts'
import { type PresentedSdJwt, readSdJwt } from './sd-jwt.ts'
import { countUnasked, isSatisfied, type SelectedClaim, selectClaims } from './select-claims.ts'
import {
  type CredentialChecks,
  type ExpectedRequest,
  type VerifiedCredential,
  verifyCredential,
} from './verify-credential.ts'

/** Presentations that one query may be answered with, where it asks for several. */
const MAX_PRESENTATIONS = 5

/** A credential that answers a query. */
interface AnsweredQuery {
  query: CredentialQuery
  credential: VerifiedCredential
  /** in the order of the query */
  selected: SelectedClaim[]
}

/** A wallet's answer, verified. */
export interface VerifiedResponse {
  answers: AnsweredQuery[]
  /** claims that were disclosed though nobody asked for them: not read further */
  discarded: number
}

/**
 * Verifies the `vp_token` of an answer. One failure refuses all of it.
 * @throws RefusedPresentationError with the first reason there is
 */
export async function verifyResponse(
  vpToken: JsonObject,
  query: PresentationQuery,
  expected: ExpectedRequest,
  checks: CredentialChecks,
): Promise<VerifiedResponse> {
  const presented = readVpToken(vpToken, query)
  const answers: AnsweredQuery[] = []
  let discarded = 0
  for (const { query: requested, presentation } of presented) {
    const credential = await verifyCredential(presentation, requested, expected, checks)
    answers.push({ query: requested, credential, selected: selectClaims(credential.claims, requested) })
    discarded += countUnasked(credential.disclosed, requested)
  }
  if (!isSatisfied(query, new Set(answers.map((answer) => answer.query.id)))) {
    throw new RefusedPresentationError('QUERY_NOT_SATISFIED')
  }
  return { answers, discarded }
}

interface Presented {
  query: CredentialQuery
  presentation: PresentedSdJwt
}

/** What is presented, in the order of the query. */
function readVpToken(token: JsonObject, query: PresentationQuery): Presented[] {
  const byId = new Map(query.credentials.map((credential) => [credential.id, credential]))
  const lists = Object.entries(token).map(([id, list]) => {
    const isList = Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string')
    if (!isList) throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
    return { id, presentations: list.map((item) => readSdJwt(String(item))) }
  })
  const read = lists.map(({ id, presentations }) => {
    const whole = presentations.filter((presentation) => presentation !== null)
    if (whole.length !== presentations.length) throw new RefusedPresentationError('VP_TOKEN_MALFORMED')
    return { id, presentations: whole }
  })
  const known = read.map(({ id, presentations }) => {
    const requested = byId.get(id)
    if (!requested) throw new RefusedPresentationError('UNKNOWN_QUERY_ID')
    return { requested, presentations }
  })
  for (const { requested, presentations } of known) {
    if (presentations.length > (requested.multiple === true ? MAX_PRESENTATIONS : 1)) {
      throw new RefusedPresentationError('TOO_MANY_PRESENTATIONS')
    }
  }
  return query.credentials.flatMap((requested) =>
    known
      .filter((one) => one.requested === requested)
      .flatMap(({ presentations }) => presentations.map((presentation) => ({ query: requested, presentation }))),
  )
}
