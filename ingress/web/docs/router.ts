import { createHash } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { LRUCache } from 'lru-cache'
import type { IngressDeps } from '../../deps.ts'
import { queryOf } from '../../middleware/form-text.ts'
import { type CompressedText, compressedText, sendCompressed } from '../shell/assets.ts'
import { asPage, htmlDocument } from '../shell/send-html.ts'
import { setSafetyHeaders } from '../shell/serve.ts'
import { indexPage, operationPage } from './pages.tsx'
import { readReference } from './reference.ts'
import { createSearch } from './search.ts'

interface Tagged extends CompressedText {
  etag: string
}

/** Rendered pages that are kept, about 60 kB each. */
const MAX_PAGES = 64
const MAX_QUERY_LENGTH = 100

/**
 * Serves the OpenAPI document and the pages made of it (docs/adr/0026). They are the same for all visitors and need no
 * database.
 * @param document OpenAPI document of all routes
 */
export function createDocsRouter(deps: IngressDeps, document: string): Router {
  const { config } = deps
  const router = Router({ caseSensitive: true, strict: true })
  const kept = new LRUCache<string, Promise<Tagged>>({ max: MAX_PAGES })
  // Parsing takes about 20 ms, so it waits for the first reader.
  const open = once(() => {
    const reference = readReference(document)
    return { reference, search: createSearch(reference) }
  })
  const openApi = once(() => tagged(document))

  router.get('/openapi.json', async (request, response) => {
    response.type('application/json').set('Access-Control-Allow-Origin', '*')
    send(request, response, await openApi())
  })
  router.get('/docs', async (request, response) => {
    const query = (queryOf(request).get('q') ?? '').trim().slice(0, MAX_QUERY_LENGTH)
    if (query === '') return await sendKept(request, response, '', () => indexPage(open().reference, config))
    const { reference, search } = open()
    sendPage(request, response, await page(indexPage(reference, config, { query, found: await search(query) })))
  })
  router.get('/docs/:operationId', async (request, response, next) => {
    const { reference } = open()
    const operation = reference.operations.get(request.params.operationId)
    if (!operation) return next()
    await sendKept(request, response, operation.operationId, () => operationPage(operation, reference, config))
  })

  async function sendKept(request: Request, response: Response, name: string, make: () => string): Promise<void> {
    const known = kept.get(name) ?? page(make())
    kept.set(name, known)
    sendPage(request, response, await known)
  }

  function page(html: string): Promise<Tagged> {
    return tagged(htmlDocument(html, config))
  }

  function sendPage(request: Request, response: Response, content: Tagged): void {
    setSafetyHeaders(response, deps)
    send(request, asPage(response), content)
  }
  return router
}

async function tagged(text: string): Promise<Tagged> {
  // Weak, because the compressed and the plain form share it.
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`
  return { etag, ...(await compressedText(text)) }
}

function send(request: Request, response: Response, { etag, ...text }: Tagged): void {
  response.set({ ETag: etag, 'Cache-Control': 'no-cache' })
  if (request.fresh) response.vary('Accept-Encoding').status(304).end()
  else sendCompressed(request, response, text)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
