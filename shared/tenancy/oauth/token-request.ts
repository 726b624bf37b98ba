import { DomainError } from '../../errors.ts'

export interface TokenRequest {
  clientId: string
  clientSecret: string
  isBasic: boolean
  /** null for all scopes of the client */
  scope: string[] | null
  /** RFC 8707; empty for the API itself */
  resources: string[]
}

const CREDENTIALS = ['client_id', 'client_secret']
const MAX_FIELD = 512

/**
 * RFC 6749 section 4.4. Rejects duplicate parameters except `resource`, and credentials in `query`, because addresses
 * are logged (section 2.3.1). @throws OAuthError
 */
export function parseTokenRequest(
  form: string,
  authorization: string | undefined,
  query: URLSearchParams,
): TokenRequest {
  const basic = authorization === undefined ? null : parseBasic(authorization)
  const isBasic = basic !== null
  const fields = new URLSearchParams([...new URLSearchParams(form)].filter(([, value]) => value !== ''))
  for (const name of new Set(fields.keys())) {
    if (name !== 'resource' && fields.getAll(name).length > 1)
      throw new OAuthError('invalid_request', `${printable(name)} must not appear twice`, isBasic)
    if (fields.getAll(name).some((value) => value.includes('\0')))
      throw new OAuthError('invalid_request', `${printable(name)} must not contain U+0000`, isBasic)
  }
  if (CREDENTIALS.some((name) => query.has(name))) {
    throw new OAuthError('invalid_request', 'client_id and client_secret must not be in the query string', isBasic)
  }
  const grant = fields.get('grant_type')
  if (grant === null) throw new OAuthError('invalid_request', 'grant_type is missing', isBasic)
  if (grant !== 'client_credentials') {
    throw new OAuthError('unsupported_grant_type', 'only client_credentials is supported', isBasic)
  }
  const credentials = credentialsOf(fields, basic)
  const scope = fields.get('scope')
  return {
    ...credentials,
    isBasic,
    scope: scope === null ? null : parseScope(scope, isBasic),
    resources: fields.getAll('resource'),
  }
}

function credentialsOf(
  fields: URLSearchParams,
  basic: { clientId: string; clientSecret: string } | null,
): { clientId: string; clientSecret: string } {
  if (basic) {
    const clientId = fields.get('client_id')
    if (fields.has('client_secret') || (clientId !== null && clientId !== basic.clientId)) {
      throw new OAuthError('invalid_request', 'use either HTTP Basic or form fields to authenticate, not both', true)
    }
    return basic
  }
  const clientId = fields.get('client_id') ?? ''
  const clientSecret = fields.get('client_secret') ?? ''
  if (clientId === '' || clientSecret === '') {
    throw new OAuthError('invalid_client', 'client_id and client_secret are required')
  }
  if (clientId.length > MAX_FIELD || clientSecret.length > MAX_FIELD) throw unknownClient(false)
  return { clientId, clientSecret }
}

/** RFC 6749 section 2.3.1: both parts are form-encoded before they are joined. */
function parseBasic(authorization: string): { clientId: string; clientSecret: string } {
  const match = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)
  if (!match) throw new OAuthError('invalid_client', 'the Authorization header is not HTTP Basic', true)
  const decoded = Buffer.from(match[1] ?? '', 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  if (colon < 1 || decoded.length > 2 * MAX_FIELD) throw unknownClient(true)
  const clientId = formDecode(decoded.slice(0, colon))
  if (clientId.includes('\0')) throw unknownClient(true)
  return { clientId, clientSecret: formDecode(decoded.slice(colon + 1)) }
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw unknownClient(true)
  }
}

function parseScope(scope: string, isBasic: boolean): string[] {
  const scopes = scope.split(' ')
  if (scope.length > 2000 || !scopes.every((item) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(item))) {
    throw new OAuthError('invalid_scope', 'scope is a list of names separated by one space', isBasic)
  }
  return [...new Set(scopes)]
}

/** The same error for an unknown client, a disabled one and a wrong secret. */
export function unknownClient(isBasic: boolean): OAuthError {
  return new OAuthError('invalid_client', 'the client is not known or its secret is wrong', isBasic)
}

/** All of the client by default. @throws OAuthError invalid_scope */
export function grantScopes(
  requested: readonly string[] | null,
  allowed: readonly string[],
  isBasic: boolean,
): string[] {
  if (requested === null) return [...allowed]
  const refused = requested.find((scope) => !allowed.includes(scope))
  if (refused !== undefined) {
    throw new OAuthError('invalid_scope', `the client may not have the scope ${printable(refused)}`, isBasic)
  }
  return [...requested]
}

function printable(text: string): string {
  return text.slice(0, 50).replaceAll(/[^\x20-\x7e]/g, '?')
}

/** Error codes of RFC 6749 section 5.2 and RFC 8707 section 2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'

/** `isBasic`: the client used HTTP Basic, so the response names that scheme. */
export class OAuthError extends DomainError {
  readonly code: 'UNAUTHORIZED' | 'VALIDATION_ERROR'
  readonly oauthCode: OAuthErrorCode
  readonly isBasic: boolean
  constructor(oauthCode: OAuthErrorCode, message: string, isBasic = false) {
    super(message)
    this.oauthCode = oauthCode
    this.code = oauthCode === 'invalid_client' ? 'UNAUTHORIZED' : 'VALIDATION_ERROR'
    this.isBasic = isBasic
  }
}

export interface ThrottleRule {
  bucket: string
  capacity: number
}

/** A bucket regains this share of its capacity per second. */
export const THROTTLE_SHARE_PER_SECOND = 1 / 60

/**
 * `blocking` buckets must grant a token before the secret is compared, so that parallel guesses cannot outrun the
 * count. The client's bucket never blocks a correct secret, otherwise a stranger could lock the client out.
 */
export function throttleRules(clientId: string, address: string): { blocking: ThrottleRule[]; client: ThrottleRule } {
  return {
    blocking: [
      { bucket: `token:pair:${clientId}:${address}`, capacity: 10 },
      { bucket: `token:address:${address}`, capacity: 50 },
    ],
    client: { bucket: `token:client:${clientId}`, capacity: 30 },
  }
}
