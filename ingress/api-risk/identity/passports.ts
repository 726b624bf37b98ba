import { z } from 'zod'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { NotFoundError } from '#shared/errors.ts'
import { parseWith } from '#shared/parse-with.ts'
import { acrossTenants } from '#shared/platform/database/tenant.ts'
import { AnchoredObject } from '#shared/risk/evidence/values.ts'
import { IdentityPassportBody, PassportVerifyBody, ReasonBody } from '#shared/risk/identity/identity-requests.ts'
import { issueIdentityPassport, revokeIdentityPassport } from '#shared/risk/operations/issue-identity-passport.ts'
import { verifyPassport } from '#shared/risk/operations/verify-passport.ts'
import { isUuid } from '#shared/uuid.ts'
import { readJson } from '../../middleware/json-body.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { passportObject } from '../answer.ts'
import { idParam } from '../path-params.ts'
import { read, write } from '../risk-route.ts'
import { given, ownerOf, subjectOf, subjectParams } from './operation-context.ts'

const tags = ['Identity'] as const

const PassportSchema = passportObject.meta({ id: 'IdentityPassport' })

const issueRoute = write({
  tags,
  access: withScope('identity:write'),
  path: '/v1/identity/subjects/{subjectId}/passports',
  operationId: 'issueIdentityPassport',
  summary: 'Issue a passport of a verified subject: assurance and evidence, without names',
  params: subjectParams,
  body: IdentityPassportBody,
  returns: PassportSchema,
  status: 201,
  async handle({ caller, params: { subjectId }, body, tx, enqueue, deps }) {
    const signingKey = await deps.risk.passportKey(caller.env)
    const subject = await subjectOf(tx, caller, subjectId)
    return await issueIdentityPassport(tx, ownerOf(caller), subject, body, {
      ...given(enqueue, deps),
      publicUrl: deps.config.publicUrl,
      signingKey,
    })
  },
})

const VerifiedSchema = z
  .object({
    valid: z.boolean(),
    reasons: z.array(z.enum(['SIGNATURE', 'EXPIRED', 'REVOKED', 'ANCHOR_UNKNOWN', 'HASH_MISMATCH'])),
    anchorState: z.enum(['PENDING', 'INCLUDED', 'WITNESSED', 'EXTERNAL']).nullable(),
    summary: z.looseObject({}).nullable(),
  })
  .meta({ id: 'VerifiedPassport' })

const verifyRoute = read({
  method: 'post',
  tags,
  access: withScope('identity:write'),
  path: '/v1/identity/passports/verify',
  operationId: 'verifyPassport',
  summary: 'Verify a passport of any organisation',
  description: 'Accepts JSON or SD-JWT VC. It changes nothing and returns only the summary.',
  params: {},
  body: { required: true, content: { 'application/json': PassportVerifyBody } },
  returns: VerifiedSchema,
  async handle({ request, deps }) {
    const { passport } = parseWith(PassportVerifyBody, await readJson(request))
    const [sandbox, production] = [await deps.risk.passportKey('SANDBOX'), await deps.risk.passportKey('PRODUCTION')]
    return await acrossTenants(() =>
      // A passport that is not a string was parsed as JSON.
      verifyPassport(deps.db, passport as string | JsonObject, {
        now: deps.now,
        publicUrl: deps.config.publicUrl,
        signingKeys: [sandbox, production],
      }),
    )
  },
})

const revokeRoute = write({
  tags,
  access: withScope('identity:write'),
  path: '/v1/identity/passports/{passportId}/revoke',
  operationId: 'revokePassport',
  summary: 'Revoke a passport, also in its status list',
  params: { passportId: idParam('passportId of the passport') },
  body: ReasonBody,
  returns: AnchoredObject,
  async handle({ caller, params: { passportId }, body: { reason }, tx, deps }) {
    if (!isUuid(passportId)) throw new NotFoundError('passport not found')
    return await revokeIdentityPassport(tx, ownerOf(caller), passportId, reason, deps)
  },
})

export const passportRoutes: readonly Route[] = [issueRoute, verifyRoute, revokeRoute]
