import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const pd = defineKind({
  kind: 'pd',
  label: 'PagerDuty',
  schema: z.strictObject({ service_key: token(64), base_url: baseUrl.default('https://events.pagerduty.com') }),
  secretFields: ['service_key'],
  help: ['service_key  integration key of the service (secret)', 'base_url     server (https://events.pagerduty.com)'],
  targetsOf: (config) => [config.base_url],
})
