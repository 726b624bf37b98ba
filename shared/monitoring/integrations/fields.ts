import { z } from 'zod'
import type { Status } from './kind.ts'

/** Limit of URLs, headers and templates (docs/spec/monitoring.md#webhooks). */
export const maxTemplateLength = 1000

const controlCharacters = /\p{Cc}/u

/** Text without line breaks, so that it cannot end a header or a command. */
export const singleLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max, `is longer than ${max} characters`)
    .refine((text) => !controlCharacters.test(text), 'must be one line')

export const token = (max = 500) => singleLine(max).refine((text) => !/\s/.test(text), 'must not contain spaces')

/** Validates only the text of a URL; the target policy checks its address. */
export const httpUrl = singleLine(maxTemplateLength)
  .refine(
    (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
    'must be a URL that starts with https:// or http://',
  )
  .refine((text) => !hasCredentials(text), 'must not contain a user name or password')

/** Removes final slashes, so that paths can be appended. */
export const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''))

/** Refuses lists, display names, comments and quoted local parts, because each could add a recipient. */
export const emailAddress = singleLine(254).refine(
  (text) => /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u.test(text),
  'must be one e-mail address',
)

/** E.164; spaces, dashes, dots and parentheses are removed. */
export const phoneNumber = z
  .string()
  .transform((text) => text.replace(/[\s().-]/g, ''))
  .refine((text) => /^\+[1-9]\d{5,14}$/.test(text), 'must be a phone number like +15550100')

export const switches = { down: z.boolean().default(true), up: z.boolean().default(true) }

export function isSwitchedOff(config: { down: boolean; up: boolean }, status: Status): boolean {
  return !config[status]
}

/** For services without recoveries. */
export function isUp(_config: unknown, status: Status): boolean {
  return status === 'up'
}

export const incomingWebhook = z
  .strictObject({ url: httpUrl.optional(), value: httpUrl.optional() })
  .transform(({ url, value }, context) => {
    const target = url ?? value
    if (target !== undefined) return { url: target }
    context.addIssue({ code: 'custom', path: ['url'], message: 'is required' })
    return z.NEVER
  })

export const incomingWebhookHelp = ['url     webhook URL that the service shows (secret)']

function hasCredentials(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.username !== '' || url.password !== '')
}
