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

const MAX_PRESENTATIONS = 5

interface AnsweredQuery {
  query: CredentialQuery
  credential: VerifiedCredential
  /** in the order of the query */
  selected: SelectedClaim[]
}

export interface VerifiedResponse {
  answers: AnsweredQuery[]
  /** not requested by the query, and ignored */
  discarded: number
}

/** @throws RefusedPresentationError with the first reason */
export async function verifyResponse(
  vpToken: JsonObject,
  query: PresentationQuery,
  expected: ExpectedRequest,
  checks: CredentialChecks,
): Promise<VerifiedResponse> {
  const presented = readVpToken(vpToken, query)
  const answers: AnsweredQuery[] = []
  let discarded = 0
  for (const { query: credentialQuery, presentation } of presented) {
    const credential = await verifyCredential(presentation, credentialQuery, expected, checks)
    answers.push({ query: credentialQuery, credential, selected: selectClaims(credential.claims, credentialQuery) })
    discarded += countUnasked(credential.disclosed, credentialQuery)
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
    const credentialQuery = byId.get(id)
    if (!credentialQuery) throw new RefusedPresentationError('UNKNOWN_QUERY_ID')
    return { credentialQuery, presentations }
  })
  for (const { credentialQuery, presentations } of known) {
    if (presentations.length > (credentialQuery.multiple === true ? MAX_PRESENTATIONS : 1)) {
      throw new RefusedPresentationError('TOO_MANY_PRESENTATIONS')
    }
  }
  return query.credentials.flatMap((credentialQuery) =>
    known
      .filter((one) => one.credentialQuery === credentialQuery)
      .flatMap(({ presentations }) => presentations.map((presentation) => ({ query: credentialQuery, presentation }))),
  )
}
