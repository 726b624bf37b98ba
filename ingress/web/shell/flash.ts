import type { Request, Response } from 'express'
import type { IngressDeps } from '../../deps.ts'
import { safeNext } from '../account/safe-next.ts'
import { type Context, type Flash, type FormContext, redirect } from './context.ts'
import { readCookie, setCookie } from './sessions.ts'

/** Short, because the redirect follows at once. */
const MAX_AGE_SECONDS = 60

/** Stores a message for the page at `path` in an encrypted cookie of this browser. */
export function setFlash({ deps, response, session }: Context, path: string, flash: Flash): void {
  const text = JSON.stringify({ path, userId: session?.userId ?? null, flash })
  setCookie(response, deps.config, 'flash', deps.secrets.seal('flash', text), MAX_AGE_SECONDS)
}

/** Sent by scripts that read a page in the background. Such a read must not use up the message of the next page. */
const BACKGROUND_READ = 'x-background-read'

/** Returns and deletes the message for this page and user. */
export function takeFlash(
  request: Request,
  response: Response,
  { config, secrets }: Pick<IngressDeps, 'config' | 'secrets'>,
  userId: number | null,
): Flash {
  const sealed = readCookie(request, config, 'flash')
  if (sealed === '' || request.method !== 'GET' || request.headers[BACKGROUND_READ] !== undefined) return {}
  try {
    const left: { path: string; userId: number | null; flash: Flash } = JSON.parse(secrets.open('flash', sealed))
    if (left.path !== request.path || left.userId !== userId) return {}
    setCookie(response, config, 'flash', '', 0)
    return left.flash
  } catch {
    // The cookie was encrypted with a key that no longer exists.
    return {}
  }
}

/**
 * Redirects to the page of the form, with a message.
 * @param otherwise target if the form names no page
 */
export function goBack(context: FormContext, otherwise: string, flash?: Flash): void {
  const back = safeNext(context.form.get('back'))
  const address = back === '/' ? otherwise : back
  if (flash) setFlash(context, address.replace(/[?#].*/, ''), flash)
  redirect(context, address)
}
