import type { Request, Response } from 'express'
import type { Config } from '#shared/platform/process/config.ts'

/**
 * What we keep in browsers: the session, a name for visitors without one (their forms need a token), an OIDC flow, who
 * has shown a password and no second factor yet, that a password was shown a moment ago, and what the next page says once.
 */
export type CookieName = 'session' | 'visit' | 'sign-in' | 'second-step' | 'recent-password' | 'flash'

/** The last one of this name; empty when there is none. */
export function readCookie(request: Request, config: Config, name: CookieName): string {
  const full = fullName(config, name)
  let value = ''
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === full) value = pair.slice(at + 1).trim()
  }
  return value
}

/** Sets a cookie no script reads and no other site's form sends. @param maxAgeSeconds 0 removes it; absent: until the browser closes */
export function setCookie(
  response: Response,
  config: Config,
  name: CookieName,
  value: string,
  maxAgeSeconds?: number,
): void {
  const parts = [`${fullName(config, name)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax']
  if (isSecure(config)) parts.push('Secure')
  if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`)
  response.append('Set-Cookie', parts.join('; '))
}

/** The prefix makes browsers refuse the cookie from other hosts, other paths and plain http. */
function fullName(config: Config, name: CookieName): string {
  return isSecure(config) ? `__Host-signalbox-${name}` : `signalbox-${name}`
}

function isSecure(config: Config): boolean {
  return config.publicUrl.startsWith('https:')
}
