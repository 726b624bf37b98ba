import { randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Knex } from 'knex'
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
import { readCookie, setCookie } from './cookies.ts'

const MAX_AGE_SECONDS = 30 * 24 * 3600

/** The digest under which a session is stored: whoever reads the table cannot sign in with it. */
function digestOf(deps: IngressDeps, token: string): Buffer {
  return deps.secrets.digest(`session:${token}`)
}

/**
 * The session of a request, with another id when the person's rights have changed.
 * @returns the cookie's value as it is from now on, for form tokens
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

/** Signs somebody in: always a new session with a new id, whatever the browser had before. */
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

/** Signs out: the session ends here, not just in the browser. */
export async function endSession(context: Context): Promise<void> {
  if (context.session) await deleteSession(context.deps.db, context.session.userId, context.session.id)
  setCookie(context.response, context.deps.config, 'session', '', 0)
  redirect(context, '/sign-in?done=signed-out')
}

/** 256 random bits, 43 characters. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
