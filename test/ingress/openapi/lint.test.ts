import { fileURLToPath } from 'node:url'
import { createConfig, lint } from '@redocly/openapi-core'
import test from 'ava'
import { openApiFile } from '../../../ingress/openapi.ts'

/** Problems that remain: the rule, the places, and the reason. */
const exceptions = [
  {
    rule: 'no-path-trailing-slash',
    at: /^#\/paths\/~1(api~1v[123]|projects~1\{uuid\}~1metrics)~1/,
    reason: 'Clients of Healthchecks call these paths with the slash.',
  },
  {
    rule: 'operation-4xx-response',
    at: /^#\/paths\/~1(api~1v[123]~1status~1|v1~1oauth~1jwks|\.well-known~1oauth-[\w~-]+)\/get\//,
    reason: 'Public reads without input refuse nothing.',
  },
  {
    rule: 'operation-2xx-response',
    at: /^#\/paths\/~1v1~1oauth~1authorize\/get\//,
    reason: 'Its only success is a redirect.',
  },
]

test('the OpenAPI document passes the rules of Redocly, and its examples match their schemas', async (t) => {
  const rules = { 'no-invalid-schema-examples': 'error', 'no-invalid-media-type-examples': 'error' } as const
  const config = await createConfig({ extends: ['recommended'], rules })
  const problems = await lint({ ref: fileURLToPath(openApiFile), config })
  const found = problems.map(({ ruleId, message, location }) => ({ ruleId, message, at: location[0]?.pointer ?? '' }))
  const isExpected = ({ ruleId, at }: (typeof found)[number]) =>
    exceptions.some((exception) => exception.rule === ruleId && exception.at.test(at))
  t.deepEqual(
    found.filter((problem) => !isExpected(problem)),
    [],
  )
  for (const { rule, at, reason } of exceptions)
    t.true(
      found.some((problem) => problem.ruleId === rule && at.test(problem.at)),
      `${rule} is unused: ${reason}`,
    )
})
