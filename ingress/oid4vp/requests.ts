import type { Request, Response } from 'express'
import { z } from 'zod'
import { NotConfiguredError } from '#shared/errors.ts'
import { serveRequestObject } from '#shared/risk/operations/presentations.ts'
import type { IngressDeps } from '../deps.ts'
import { problemResponses } from '../problem-responses.ts'
import { defineRoute, type ResponseDocument, type Route } from '../route.ts'
import { postResponseRoute } from './responses.ts'
import { answerWallet, handleParam, presentationOf, readForm } from './wallet-answers.ts'

const TYPE = 'application/oauth-authz-req+jwt'
const PATH = '/v1/oid4vp/requests/{handle}'
const MAX_FORM_BYTES = 64 * 1024

const responses: Record<number, ResponseDocument> = {
  200: { description: 'A signed request object (RFC 9101)', content: { [TYPE]: null } },
  410: { description: 'Expired, or served ten times', content: { 'application/json': null } },
  ...problemResponses(404, 413, 415, 429, 503),
}

const described = {
  path: PATH,
  tags: ['Wallets'],
  security: [],
  params: { handle: handleParam },
} as const

const readRequestRoute = defineRoute({
  ...described,
  method: 'get',
  operationId: 'getPresentationRequest',
  summary: 'Get the request object of a presentation',
  description: 'Public: the address is enough. It can be read ten times within five minutes.',
  responses,
  handle: (request, response, deps) => serve(request, response, deps, null),
})

const FetchForm = z
  .object({ wallet_nonce: z.string().optional(), wallet_metadata: z.string().optional() })
  .meta({ id: 'RequestObjectForm' })

const fetchRequestRoute = defineRoute({
  ...described,
  method: 'post',
  operationId: 'fetchPresentationRequest',
  summary: 'Get the request object, with a nonce of the wallet',
  body: { required: false, content: { 'application/x-www-form-urlencoded': FetchForm } },
  responses,
  async handle(request, response, deps) {
    const form = new URLSearchParams(await readForm(request, MAX_FORM_BYTES))
    await serve(request, response, deps, form.get('wallet_nonce')?.slice(0, 500) ?? null)
  },
})

async function serve(
  request: Request<Record<'handle', string>>,
  response: Response,
  deps: IngressDeps,
  walletNonce: string | null,
): Promise<void> {
  const presentation = await presentationOf(request, response, deps)
  const signer = await deps.risk.requestSigner(presentation.env)
  if (!signer) throw new NotConfiguredError('requests to wallets are not configured')
  const { secrets, now, config } = deps
  const jwt = await serveRequestObject(deps.db, presentation, walletNonce, {
    secrets,
    now,
    signer,
    publicUrl: config.publicUrl,
  })
  if (jwt === null) return answerWallet(response, 410, { error: 'invalid_request' })
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('Content-Type', TYPE)
  response.end(jwt)
}

export const walletRoutes: readonly Route[] = [readRequestRoute, fetchRequestRoute, postResponseRoute]
