import { createHash } from 'node:crypto'
import test from 'ava'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { MONITORING_SCOPES } from '#shared/tenancy/agents/agent-key.ts'
import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { tools } from '../../../ingress/mcp/tools.ts'

test('the words that models read change only on purpose', (t) => {
  const words = tools.map(({ name, title, description, scope, annotations }) => ({
    ...{ name, title, description, scope },
    annotations: { ...annotations },
  }))
  const digest = createHash('sha256').update(canonicalize(words)).digest('hex')
  t.is(
    digest,
    '7eed224d6c6c0cb9c78ff04d7a7ca9d96c9f0b103c29f13f782d41dcb7b89faa',
    'read every text once more, then write the new digest here',
  )
})

test('no text of a tool recommends, decides or takes orders', (t) => {
  for (const { name, title, description } of tools) {
    t.notRegex(
      `${title} ${description}`,
      /\b(should|recommend|approve|decline|reject|advise|creditworthy|risky|safe)\b/i,
      name,
    )
    t.regex(name, /^[a-z]+(_[a-z]+)+$/)
  }
})

test('every tool needs a scope that there is, and says whether it changes something', (t) => {
  const scopes = [...OFFERED_SCOPES, ...MONITORING_SCOPES]
  for (const { name, scope, annotations } of tools) {
    t.true(
      scopes.some((offered) => offered === scope),
      name,
    )
    t.is(typeof annotations.readOnlyHint, 'boolean', name)
    if (!annotations.readOnlyHint) t.like(annotations, { destructiveHint: false, idempotentHint: true }, name)
  }
})
