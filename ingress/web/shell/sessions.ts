import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Knex } from 'knex'
import { isBase64url } from '#shared/canonical/base64url.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { describeError } from '#shared/platform/process/log.ts'
import {
  deleteSession,
  findSession,
  insertSession,
  renewSession,
  type Session,
  touchSession,
} from '#shared/tenancy/accounts/session-store.ts'
import type { IngressDeps } from '../../deps.ts'
import { type Context, redirect } from './context.ts'

const MAX_AGE_SECONDS = 30 * 24 * 3600

/** Stores only a digest, so that a dump of the table does not allow a sign-in. */
function digestOf(deps: IngressDeps, token: string): Buffer {
  return deps.secrets.digest(`session:${token}`)
}

/**
 * Loads the session of a request; replaces its id after the user's rights have changed.
 * @returns the current cookie value, for form tokens
 */
export async function loadSession(
  request: Request,
  response: Response,
  deps: IngressDeps,
  address: string,
): Promise<{ session: Session; token: string } | null> {
  const token = readCookie(request, deps.config, 'session')
  if (token.length !== 43) return null
  const session = await findSession(deps.db, deps.secrets.digests(`session:${token}`))
  if (!session) return null
  touchSession(deps.db, session.id, address).catch((error: unknown) => {
    deps.log.warn(describeError(error), 'session.use-not-noted')
  })
  if (!session.renew) return { session, token }
  const renewed = newToken()
  if (!(await renewSession(deps.db, session.id, digestOf(deps, renewed)))) return { session, token }
  setCookie(response, deps.config, 'session', renewed, MAX_AGE_SECONDS)
  return { session, token: renewed }
}

/** Always uses a new id, which prevents session fixation. */
export async function startSession(context: Context, userId: number, db: Knex = context.deps.db): Promise<void> {
  const { deps, request, response, session } = context
  const token = newToken()
  if (session) await deleteSession(db, session.userId, session.id)
  await insertSession(db, {
    digest: digestOf(deps, token),
    userId,
    address: context.address,
    agent: (request.headers['user-agent'] ?? '').slice(0, 300),
  })
  setCookie(response, deps.config, 'session', token, MAX_AGE_SECONDS)
}

/** Deletes the session in the database too, not only the cookie. */
export async function endSession(context: Context): Promise<void> {
  if (context.session) await deleteSession(context.deps.db, context.session.userId, context.session.id)
  setCookie(context.response, context.deps.config, 'session', '', 0)
  redirect(context, '/sign-in?done=signed-out')
}

/** 256 random bits, 43 characters. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Cookies: the session, and an id of visitors for their form tokens; an OIDC flow, and a password before its second
 * factor; a recent password confirmation; the message for the next page; the uuid of the project that was opened last;
 * the environment of the risk console that was used last.
 */
export type CookieName =
  | 'session'
  | 'visit'
  | 'sign-in'
  | 'second-step'
  | 'recent-password'
  | 'flash'
  | 'project'
  | 'risk-env'

/** Returns the last cookie of this name; empty without one. */
export function readCookie(request: Request, config: Config, name: CookieName): string {
  const full = fullName(config, name)
  let value = ''
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === full) value = pair.slice(at + 1).trim()
  }
  return value
}

/**
 * Sets a cookie that scripts cannot read and other sites' forms do not send. @param maxAgeSeconds 0 removes it; default
 * until the browser closes
 */
export function setCookie(
  response: Response,
  config: Config,
  name: CookieName,
  value: string,
  maxAgeSeconds?: number,
): void {
  const parts = [`${fullName(config, name)}=${value}`, `Path=${config.basePath}/`, 'HttpOnly', 'SameSite=Lax']
  if (isSecure(config)) parts.push('Secure')
  if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`)
  response.append('Set-Cookie', parts.join('; '))
}

/**
 * The prefix `__Host-` makes browsers refuse the cookie from other hosts, other paths and plain http. A cookie below a path
 * may only have `__Secure-`.
 */
function fullName(config: Config, name: CookieName): string {
  if (!isSecure(config)) return `signalbox-${name}`
  return `${config.basePath === '' ? '__Host' : '__Secure'}-signalbox-${name}`
}

function isSecure(config: Config): boolean {
  return config.publicUrl.startsWith('https:')
}

const BYTES = 32

/**
 * Returns the CSRF token of one browser, with another mask in each call. Otherwise an attacker could guess it from the
 * compressed length of pages that repeat part of their address.
 * @param cookie session or visitor id of the browser
 */
export function csrfToken(key: Buffer, cookie: string): string {
  const mask = randomBytes(BYTES)
  return Buffer.concat([mask, xor(mask, tokenOf(key, cookie))]).toString('base64url')
}

export function isCsrfToken(key: Buffer, cookie: string, given: string): boolean {
  if (!isBase64url(given)) return false
  const bytes = Buffer.from(given, 'base64url')
  if (bytes.length !== 2 * BYTES) return false
  return timingSafeEqual(xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES)), tokenOf(key, cookie))
}

function tokenOf(key: Buffer, cookie: string): Buffer {
  return createHmac('sha256', key).update(cookie).digest()
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))
}
