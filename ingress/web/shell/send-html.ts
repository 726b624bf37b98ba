import type { Request, Response } from 'express'
import type { Config } from '#shared/platform/process/config.ts'
import { pageWithBase } from '../../base-path.ts'
import { assets } from './assets.ts'
import { fonts } from './icon-rules.ts'

/** Resources that block the first paint: the browser requests them before it has read the page. */
const FIRST_NEEDED = [
  `<${assets.style.path}>; rel=preload; as=style`,
  ...fonts.map(({ path }) => `<${path}>; rel=preload; as=font; type="font/woff2"; crossorigin`),
].join(', ')

/** Returns true if a browser opens a page, which needs no problem document; false for the scripts of pages. */
export function wantsPage({ method, headers }: Request): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html')
}

/** Sets the headers of a page. */
export function asPage(response: Response): Response {
  return response.type('text/html').set('Link', FIRST_NEEDED)
}

/** Returns a rendered `html` element as a document, with the path of PUBLIC_URL in its addresses. */
export function htmlDocument(html: string, { basePath }: Pick<Config, 'basePath'>): string {
  return pageWithBase(basePath, `<!doctype html>${html}`)
}
