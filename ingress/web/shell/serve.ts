import { type Request, type Response, Router } from 'express'
import { ForbiddenError, NotFoundError, RateLimitedError, UnauthorizedError, ValidationError } from '#shared/errors.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import { createTimeSlices } from '#shared/platform/process/time-slices.ts'
import { createTokenBuckets } from '#shared/platform/process/token-buckets.ts'
import type { IngressDeps } from '../../deps.ts'
import { openBody } from '../../middleware/body.ts'
import { bodyPieces, parseFormText, pathText, queryOf } from '../../middleware/form-text.ts'
import { clientAddress } from '../../middleware/request-safety.ts'
import { readUploadForm } from '../../middleware/upload-form.ts'
import { observe } from '../../observe.ts'
import { PASSWORD_FIELDS } from '../forms/inputs.tsx'
import { sendConfirmation, sendPreservedForm } from './confirm-page.tsx'
import {
  type Context,
  type FormHandler,
  field,
  type PageHandler,
  type Pages,
  redirect,
  type UploadHandler,
} from './context.ts'
import { sendErrorPage } from './error-page.tsx'
import { takeFlash } from './flash.ts'
import { createRefusalWatch } from './refusal.ts'
import { csrfToken, isCsrfToken, loadSession, newToken, readCookie, setCookie } from './sessions.ts'

/** Longer than any form; an import of checks is the largest. */
const MAX_FORM_BYTES = 1_048_576
/** A form of that length with ids of checks has fewer. */
const MAX_FORM_FIELDS = 25_000
/** Limits preserved forms, because each field is rendered. */
const MAX_PRESERVED_FIELDS = 2_000
/** The token must be within the first bytes of a form. */
const TOKEN_BYTES = 16_384

/** Mounts pages with shared authentication, form tokens, headers and errors. */
export function createPages(deps: IngressDeps): {
  pages: Pages
  router: Router
  sendMissing(request: Request, response: Response): Promise<void>
} {
  const router = Router({ caseSensitive: true, strict: true })
  const csrfKey = deps.secrets.derive('web-csrf')
  const refusal = createRefusalWatch(deps)
  const visitors = createTokenBuckets(deps.config.pageRateLimitPerMinute)

  async function createContext(request: Request, response: Response): Promise<Context> {
    const address = clientAddress(request, deps)
    const known = await loadSession(request, response, deps, address)
    const browser = known?.token ?? visit(request, response)
    return {
      deps,
      request,
      response,
      params: textParams(request.params),
      query: queryOf(request),
      address,
      csrf: csrfToken(csrfKey, browser),
      isOwnForm: (token) => isCsrfToken(csrfKey, browser, token) || isPreservedForm(request, token),
      session: known?.session ?? null,
      flash: takeFlash(request, response, deps, known?.session.userId ?? null),
      pingRefusal: await refusal(),
    }
  }

  function limitVisitor({ session, address }: Context): void {
    if (session) return
    const { granted, retryAfterSeconds } = visitors.take(addressBucket(address), performance.now())
    if (!granted) throw new RateLimitedError('too many requests of this address, slow down', retryAfterSeconds)
  }

  /** Accepts a form that was preserved during a new sign-in; without a session it has the visitor's token. */
  function isPreservedForm(request: Request, token: string): boolean {
    const visitor = readCookie(request, deps.config, 'visit')
    return isOfOurPage(request) && visitor.length === 43 && isCsrfToken(csrfKey, visitor, token)
  }

  function visit(request: Request, response: Response): string {
    const known = readCookie(request, deps.config, 'visit')
    if (known.length === 43) return known
    const name = newToken()
    setCookie(response, deps.config, 'visit', name)
    return name
  }

  function mount(method: 'get' | 'post', path: string, answer: (context: Context) => Promise<void> | void): void {
    router[method](path, async (request, response) => {
      observe(request, response, path, deps)
      setSafetyHeaders(response, deps)
      let context: Context | undefined
      try {
        context = await createContext(request, response)
        limitVisitor(context)
        await answer(context)
      } catch (error) {
        if (context && error instanceof UnauthorizedError) return redirectToSignIn(context)
        await sendErrorPage(error, request, response, deps, context)
      }
    })
  }

  async function sendMissing(request: Request, response: Response): Promise<void> {
    setSafetyHeaders(response, deps)
    const missing = new NotFoundError('There is no page at this address.')
    // The error page must be sent even without a context.
    const context = await createContext(request, response).catch(() => undefined)
    await sendErrorPage(missing, request, response, deps, context)
  }

  return {
    router,
    sendMissing,
    pages: {
      get: (path: string, handler: PageHandler) => mount('get', path, handler),
      post: (path: string, handler: FormHandler) =>
        mount('post', path, async (context) => {
          refuseForeign(context)
          const form = await readForm(context)
          if (isOfAnotherSession(context, form)) return sendPreservedForm({ ...context, form })
          refuseForged(context, form, PASSWORD_NOT_PRESERVED)
          const sent = { ...context, form }
          if (form.has('_question') && !form.has('_confirmed')) return sendConfirmation(sent, field(form, '_question'))
          await handler(sent)
        }),
      upload: (path: string, handler: UploadHandler) =>
        mount('post', path, async (context) => {
          refuseForeign(context)
          const { request } = context
          const sent = await readUploadForm(bodyPieces(request), request.headers['content-type'] ?? '')
          refuseForged(context, sent.form, FILE_NOT_PRESERVED)
          await handler({ ...context, ...sent })
        }),
    },
  }
}

/**
 * Reads a form, whose first field is the token. Without a valid token in the first bytes the rest of a long form is
 * read only if its session may have ended.
 * @throws ForbiddenError, PayloadTooLargeError, ValidationError
 */
async function readForm(context: Context): Promise<URLSearchParams> {
  const incoming = openBody(context.request, MAX_FORM_BYTES)
  const beginning = (await incoming.upTo(TOKEN_BYTES)).toString('latin1', 0, TOKEN_BYTES)
  const [, token = ''] = /(?:^|&)_csrf=([^&]*)/.exec(beginning) ?? []
  if (!incoming.isWhole && !context.isOwnForm(token)) {
    if (!isOfOurPage(context.request) || token === '') throw new ForbiddenError(FOREIGN_FORM)
  }
  const text = (await incoming.all()).toString('utf8')
  // Other requests are served between long forms that arrive together.
  await createTimeSlices().yieldIfNeeded()
  if (hasMoreFields(text, MAX_FORM_FIELDS))
    throw new ValidationError(`the form has more than ${MAX_FORM_FIELDS} fields`)
  return parseFormText(text)
}

function hasMoreFields(text: string, max: number): boolean {
  let count = 1
  for (let at = text.indexOf('&'); at !== -1 && count <= max; at = text.indexOf('&', at + 1)) count += 1
  return count > max
}

const FOREIGN_FORM = 'This form was not sent from our own page, or you have signed in or out since it was opened.'

const SESSION_CHANGED = 'You have signed in or out since this form was opened. Nothing was saved.'
/** Passwords and files are never preserved, so only these forms must be filled in again. */
const PASSWORD_NOT_PRESERVED = `${SESSION_CHANGED} Passwords are not kept: open the form again and type them once more.`
const FILE_NOT_PRESERVED = `${SESSION_CHANGED} Files are not kept: open the form again and choose the file once more.`

/** Browsers always send this header, and pages of other sites cannot forge it. */
function isOfOurPage({ headers }: Request): boolean {
  return headers['sec-fetch-site'] === 'same-origin'
}

/** Returns true for a form of a former session. Passwords are not sent back to a page. */
function isOfAnotherSession(context: Context, form: URLSearchParams): boolean {
  if (form.size > MAX_PRESERVED_FIELDS) return false
  if (!isOfOurPage(context.request) || PASSWORD_FIELDS.some((name) => form.has(name))) return false
  return form.has('_csrf') && !context.isOwnForm(field(form, '_csrf'))
}

function refuseForeign({ request }: Context): void {
  if (request.headers['sec-fetch-site'] === 'cross-site') throw new ForbiddenError(FOREIGN_FORM)
}

/** @param notKept error text for a form of a former session */
function refuseForged(context: Context, form: URLSearchParams, notKept: string): void {
  if (context.isOwnForm(field(form, '_csrf'))) return
  throw new ForbiddenError(isOfOurPage(context.request) ? notKept : FOREIGN_FORM)
}

/** Forbids foreign content, inline scripts, framing and caching on all pages. */
export function setSafetyHeaders(response: Response, deps: IngressDeps): void {
  const issuer = deps.config.oidcIssuer
  const mayPostTo = issuer === undefined ? `'self'` : `'self' ${new URL(issuer).origin}`
  response.set({
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action ${mayPostTo}; base-uri 'none'; frame-ancestors 'none'`,
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    'Cache-Control': 'no-store',
  })
}

function redirectToSignIn(context: Context): void {
  const { method, originalUrl } = context.request
  redirect(context, method === 'GET' ? `/sign-in?next=${encodeURIComponent(originalUrl)}` : '/sign-in')
}

function textParams(params: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, pathText(value)]))
}
