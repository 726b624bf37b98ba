import { domainToASCII } from 'node:url'

/** What an e-mail ping address names. */
export type MailTarget = { form: 'uuid'; uuid: string } | { form: 'slug'; pingKey: string; slug: string }

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const KEY_AND_SLUG = /^([A-Za-z0-9_-]{22})\+([a-z0-9_-]+)$/

/**
 * Reads the recipient of an e-mail ping (docs/spec/monitoring.md#email-pings). Domains are compared without regard to case, and
 * an international one in either of its spellings; the domain is judged before the mailbox.
 * @returns `foreign` for another domain or none, `invalid` for a mailbox that can name no check
 */
export function parseMailAddress(address: string, pingDomain: string): MailTarget | 'foreign' | 'invalid' {
  const at = address.lastIndexOf('@')
  if (at === -1 || comparable(address.slice(at + 1)) !== comparable(pingDomain)) return 'foreign'
  const mailbox = address.slice(0, at)
  if (UUID_4.test(mailbox)) return { form: 'uuid', uuid: mailbox.toLowerCase() }
  const [, pingKey, slug] = KEY_AND_SLUG.exec(mailbox) ?? []
  return pingKey === undefined || slug === undefined ? 'invalid' : { form: 'slug', pingKey, slug }
}

/** An address literal such as `[127.0.0.1]` has no ASCII form of its own. */
function comparable(domain: string): string {
  return domainToASCII(domain) || domain.toLowerCase()
}
