import { z } from 'zod'
import type { Status } from './kind.ts'

/** The longest URL, header or template of a configuration (docs/spec/monitoring.md#webhooks). */
export const maxTemplateLength = 1000

const controlCharacters = /\p{Cc}/u

/** Text that cannot end a header, a command or a line. */
export const singleLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max, `is longer than ${max} characters`)
    .refine((text) => !controlCharacters.test(text), 'must be one line')

/** A key or token: one word. */
export const token = (max = 500) => singleLine(max).refine((text) => !/\s/.test(text), 'must not contain spaces')

/** What text can tell about a URL; where it leads is checked by the target policy. */
export const httpUrl = singleLine(maxTemplateLength)
  .refine(
    (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
    'must be a URL that starts with https:// or http://',
  )
  .refine((text) => !hasCredentials(text), 'must not contain a user name or password')

/** Where a service lives, without the slashes at the end, so that paths can be put behind it. */
export const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''))

/**
 * One address, of the plain form that every mail server takes. Two addresses, display names, comments and quoted
 * local parts are refused: each is a way to add a recipient.
 */
export const emailAddress = singleLine(254).refine(
  (text) => /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u.test(text),
  'must be one e-mail address',
)

/** E.164; blanks, dashes and parentheses that people type are dropped. */
export const phoneNumber = z
  .string()
  .transform((text) => text.replace(/[\s().-]/g, ''))
  .refine((text) => /^\+[1-9]\d{5,14}$/.test(text), 'must be a phone number like +15550100')

/** Which changes are reported. Both, unless said otherwise. */
export const switches = { down: z.boolean().default(true), up: z.boolean().default(true) }

export function isSwitchedOff(config: { down: boolean; up: boolean }, status: Status): boolean {
  return !config[status]
}

/** For services that know problems but no recoveries. */
export function isUp(_config: unknown, status: Status): boolean {
  return status === 'up'
}

/** `{"url": "..."}`, the whole configuration of an incoming-webhook service; `value` is accepted as another name. */
export const incomingWebhook = z
  .strictObject({ url: httpUrl.optional(), value: httpUrl.optional() })
  .transform(({ url, value }, context) => {
    const given = url ?? value
    if (given !== undefined) return { url: given }
    context.addIssue({ code: 'custom', path: ['url'], message: 'is required' })
    return z.NEVER
  })

/** The URL of such a service holds its secret. */
export const incomingWebhookHelp = ['url     the address that the service gave you (secret)']

function hasCredentials(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.username !== '' || url.password !== '')
}
