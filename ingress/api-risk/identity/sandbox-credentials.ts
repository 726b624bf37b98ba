import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { ForbiddenError } from '#shared/errors.ts'
import { CREDENTIAL_SCENARIOS, issueSandboxCredential } from '#shared/risk/credentials/sandbox-issuer.ts'
import { credentialDigest } from '#shared/risk/credentials/sd-jwt.ts'
import { ensureSigningKey } from '#shared/risk/domain-keys/store.ts'
import { line } from '#shared/risk/evidence/values.ts'
import { toSeconds } from '#shared/time.ts'
import { rule } from '#shared/validation.ts'
import { withScope } from '../access.ts'
import { write } from '../risk-route.ts'

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url')

/** Refuses private members, as all unknown ones. */
const HolderJwk = z.union([
  z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate }),
  z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: coordinate }),
])

const NAMES = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
/** Claims that only the issuer sets. */
const RESERVED = new Set(['iss', 'vct', 'iat', 'nbf', 'exp', 'cnf', 'status', 'aadhaar', 'aadhaarNumber', 'uid'])

const CredentialBody = z.strictObject({
  holderJwk: HolderJwk,
  vct: line(500),
  claims: z
    .record(z.string().regex(NAMES), z.union([line(), z.int(), z.boolean()]))
    .refine((claims) => Object.keys(claims).length <= 30, rule('TOO_MANY', 'must have at most 30 members'))
    .refine(
      (claims) => !Object.keys(claims).some((name) => RESERVED.has(name)),
      rule('RESERVED', 'must not contain claims that the issuer sets, or an Aadhaar number'),
    ),
  scenario: z.enum(CREDENTIAL_SCENARIOS).default('VALID'),
})

/** Issues a credential, so that a wallet can be tested without an issuer. */
export const sandboxCredentialRoute = write({
  tags: ['Identity'],
  access: withScope('identity:write'),
  path: '/v1/sandbox/credentials',
  operationId: 'issueSandboxCredential',
  summary: 'Issue a sandbox credential for a key of a holder',
  description: 'An SD-JWT VC that the sandbox trusts. Other values of `scenario` create a credential that is refused.',
  params: {},
  body: CredentialBody,
  returns: z.object({ credential: z.string() }),
  status: 201,
  seal: true,
  erasureDigest: (result) => credentialDigest((result as { credential: string }).credential), // the result of `handle`
  async handle({ caller, body, deps }) {
    if (caller.env !== 'SANDBOX') throw new ForbiddenError('credentials are issued in the sandbox only')
    const key = await ensureSigningKey(deps.db, deps.secrets, 'SANDBOX', 'sandbox-issuer')
    return { credential: await issueSandboxCredential(body, key, Math.floor(toSeconds(deps.now())), randomBytes) }
  },
})
