import { z } from 'zod'
import { parseWith } from '#shared/parse-with.ts'
import { validateGstin } from '#shared/risk/identifiers/gstin.ts'
import { listUsage } from '#shared/risk/metering/store.ts'
import { BundleVerificationSchema, verifyTradeBundle } from '#shared/risk/operations/trade-packs.ts'
import { VerifySchema, verifyBody } from '../../anchor-verification.ts'
import { logPolicy } from '../../log-policy.ts'
import { parseJsonBytes } from '../../middleware/json-body.ts'
import { DayQuery } from '../../paging.ts'
import { defineTool, READ_ONLY } from '../tool.ts'

/** Characters that no registration has are removed from quoted input. */
const WRITTEN = /[^0-9A-Z]/g

export const gstinValidate = defineTool({
  name: 'gstin_validate',
  title: 'Check the form of a GSTIN',
  description:
    'Checks length, state code, PAN, entity code and check character of an Indian tax registration. It shows if ' +
    'the number is well formed, not if the registration exists.',
  scope: 'agents:invoke',
  annotations: READ_ONLY,
  input: z.strictObject({ gstin: z.string().describe('15 characters, such as 27AAACB1234C1ZF') }),
  output: z.object({
    valid: z.boolean(),
    normalised: z.string(),
    reason: z.string().optional(),
    warnings: z.array(z.string()).optional(),
  }),
  async run({ gstin }, { caller }) {
    const result = validateGstin(gstin, { sandboxRegistrations: caller.env === 'SANDBOX' })
    const normalised = result.value.slice(0, 50).replace(WRITTEN, '?')
    return result.valid
      ? { valid: true, normalised, warnings: [...result.warnings] }
      : { valid: false, normalised, reason: result.reason }
  },
})

export const anchorVerify = defineTool({
  name: 'anchor_verify',
  title: 'Verify an anchored object',
  description:
    'Recomputes the hash of an object (a pack, an event, any object with an anchor) and looks it up in the ' +
    'transparency log; nothing is stored. If much depends on it, verify offline instead of trusting a server.',
  scope: 'agents:invoke',
  annotations: READ_ONLY,
  input: z.strictObject({
    object: z.record(z.string(), z.unknown()).describe('the whole object, byte for byte as it was'),
  }),
  output: VerifySchema,
  async run({ object }, { deps }) {
    const { checks, ...result } = await verifyBody(Buffer.from(JSON.stringify({ object })), deps)
    return { ...result, checks: [...checks] }
  },
})

export const provenanceVerify = defineTool({
  name: 'provenance_verify',
  title: 'Verify a trade provenance bundle',
  description:
    'Checks a signed bundle by the keys that this environment has published (the keys inside the bundle prove ' +
    'nothing), its canonical statement, the anchored record and the proof; nothing is stored. Trust no server with ' +
    'this question when it matters: verify offline.',
  scope: 'trade:read',
  annotations: READ_ONLY,
  input: z.strictObject({ bundle: z.record(z.string(), z.unknown()).describe('the whole bundle, as it was received') }),
  output: BundleVerificationSchema,
  async run({ bundle }, { caller, deps }) {
    const body = parseJsonBytes(Buffer.from(JSON.stringify(bundle)))
    return await verifyTradeBundle(deps.db, caller.env, body, (env) => logPolicy(deps, env))
  },
})

const Days = z.object({ from: DayQuery.optional(), to: DayQuery.optional() })
const MAX_LIST_LENGTH = 200

export const usageGet = defineTool({
  name: 'usage_get',
  title: 'Metered units',
  description: 'Units per family and UTC day of the organisation, newest first, at most 200 rows.',
  scope: 'usage:read',
  annotations: READ_ONLY,
  input: z.strictObject({
    family: z.string().optional(),
    from: z.string().optional().describe('a date or an instant'),
    to: z.string().optional().describe('a date or an instant'),
  }),
  output: z.object({
    usage: z.array(z.object({ family: z.string(), date: z.string(), env: z.string(), units: z.int() })),
  }),
  async run({ family, ...days }, { caller, deps }) {
    const { from, to } = parseWith(Days, days, 'the arguments')
    const usage = await listUsage(deps.db, {
      organisationId: caller.organisationId,
      env: caller.env,
      family: family ?? null,
      from: from ?? null,
      to: to ?? null,
      after: null,
      limit: MAX_LIST_LENGTH,
    })
    return { usage }
  },
})
