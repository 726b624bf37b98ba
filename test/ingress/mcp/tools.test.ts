import { createHash } from 'node:crypto'
import test from 'ava'
import { z } from 'zod'
import { canonicalize } from '#shared/canonical/jcs.ts'
import { MONITORING_SCOPES } from '#shared/tenancy/agents/agent-key.ts'
import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { FORMULAS, TIERS } from '../../../ingress/mcp/tool.ts'
import { INSTRUCTIONS } from '../../../ingress/mcp/tool-server.ts'
import { tools } from '../../../ingress/mcp/tools.ts'

test('a change of the texts for models changes their digest', (t) => {
  const listed = tools.map(({ name, title, description, scope, annotations, input, output }) => ({
    ...{ name, title, description, scope, input: schemaOf(input), output: schemaOf(output) },
    annotations: { ...annotations },
  }))
  const words = JSON.parse(JSON.stringify({ listed, INSTRUCTIONS, TIERS, FORMULAS }))
  const digest = createHash('sha256').update(canonicalize(words)).digest('hex')
  t.is(
    digest,
    '169915fbcc9b99318b380c88e1ffd29c8a97ef5766f559291c9ebc351995cb0e',
    'read every text again, then update the digest here',
  )
})

test('no text of a tool recommends or decides', (t) => {
  for (const { name, title, description, input, output } of tools) {
    const described = descriptionsIn([schemaOf(input), schemaOf(output)])
    t.notRegex(
      [title, description, ...described].join(' '),
      /\b(should|recommend|approve|decline|reject|advise|creditworthy|risky|safe)\b/i,
      name,
    )
    t.regex(name, /^[a-z]+(_[a-z]+)+$/)
  }
})

/** Returns the JSON schema that a client receives. */
function schemaOf(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: 'input' })
}

function descriptionsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(descriptionsIn)
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    name === 'description' && typeof value === 'string' ? [value] : descriptionsIn(value),
  )
}

test('every tool requires an existing scope, and declares whether it changes something', (t) => {
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
