import type { Visitor } from '../ingress/web/visitor.ts'
import type { PrefixProxy } from '../support/prefix-proxy.ts'
import type { Answer } from '../support/send.ts'

const TAG = /<([a-z0-9]+)((?: [\w:-]+(?:="[^"]*")?)*) ?\/?>/gi
const ATTRIBUTE = / ([\w:-]+)(?:="([^"]*)")?/g
/** Attributes that browsers or our scripts request. */
const REQUESTED = new Set(['href', 'src', 'data-up', 'data-down', 'data-preview'])
const POSTED = new Set(['action', 'formaction'])
/** Attributes with text that may begin with a slash without being an address. */
const TEXTS = new Set([
  'value',
  'placeholder',
  'title',
  'alt',
  'aria-label',
  'data-name',
  'data-inserts',
  'data-confirm',
])

interface Crawl {
  /** found addresses outside the path of the service, and answers that are no page */
  problems: string[]
  /** paths of pages that were read */
  pages: string[]
}

/**
 * Reads pages, and all pages and files that they lead to, through a proxy. Pages that differ only in ids are read once.
 * @param start addresses below the path of the proxy
 */
export async function crawl(proxy: PrefixProxy, visitor: Visitor, start: readonly string[]): Promise<Crawl> {
  const found: Crawl = { problems: [], pages: [] }
  const queue = start.map((path) => ({
    method: 'GET' as 'GET' | 'POST',
    url: new URL(proxy.url + path),
    from: 'start',
  }))
  const known = new Set<string>()
  const note = (from: string, problem: string) => void found.problems.push(`${from}: ${problem}`)

  /** Queues an address once. */
  function follow(method: 'GET' | 'POST', address: string, from: URL): void {
    const url = URL.parse(address, from)
    if (url?.origin !== proxy.origin) return
    if (!isBelow(proxy, url)) note(from.pathname, `${method} ${address} is outside`)
    const shape = `${method} ${shapeOf(url)}`
    if (known.has(shape)) return
    known.add(shape)
    queue.push({ method, url, from: from.pathname })
  }

  for (let next = queue.shift(); next; next = queue.shift()) {
    const { method, url, from } = next
    const path = url.pathname + url.search
    // Without the token of a form nothing is changed.
    const answer = method === 'GET' ? await visitor.get(path, HEADERS) : await visitor.send(path, {}, HEADERS)
    if (method === 'GET' && answer.status >= 400) note(from, `GET ${path} answers ${answer.status}`)
    if (method === 'POST' && [404, 405, 500].includes(answer.status))
      note(from, `POST ${path} answers ${answer.status}`)
    for (const header of ['location', 'link'] as const)
      for (const address of addressesIn(answer, header)) follow('GET', address, url)
    if (method === 'GET' && answer.status === 200) read(answer, url)
  }
  return found

  function read(answer: Answer, url: URL): void {
    const type = answer.headers['content-type'] ?? ''
    if (type.startsWith('text/css')) {
      for (const [, address = ''] of answer.text.matchAll(/url\(([^)]+)\)/g)) follow('GET', address, url)
    } else if (type.startsWith('text/javascript')) {
      for (const [, address = ''] of answer.text.matchAll(/from '([^']+)'/g)) follow('GET', address, url)
      for (const [text] of answer.text.matchAll(/(?<!endsWith\()['"`]\/[a-z][^'"`]*/g))
        note(url.pathname, `the script names ${text}`)
    } else if (type.startsWith('text/html')) readPage(answer, url)
    for (const [text] of answer.text.matchAll(foreignAddress(proxy))) note(url.pathname, `${text} is outside`)
  }

  function readPage({ text: html, headers }: Answer, url: URL): void {
    found.pages.push(url.pathname)
    const isOurs = html.includes('rel="stylesheet"')
    if (isOurs && !/as=font/.test(String(headers.link))) note(url.pathname, 'no fonts are preloaded')
    for (const [, , attributes = ''] of html.matchAll(TAG)) {
      const sent = / action=/.test(attributes) && !/ method="post"/.test(attributes) ? 'GET' : 'POST'
      for (const [, name = '', escaped = ''] of attributes.matchAll(ATTRIBUTE)) {
        const value = escaped.replaceAll('&amp;', '&')
        if (REQUESTED.has(name) && !value.startsWith('#')) follow('GET', value, url)
        else if (POSTED.has(name)) follow(sent, value, url)
        else if (/^\/[^/]/.test(value) && !TEXTS.has(name) && !isBelow(proxy, new URL(value, url)))
          note(url.pathname, `${name}="${value}" is outside`)
      }
    }
  }
}

const HEADERS = { accept: 'text/html' }

function isBelow({ basePath }: PrefixProxy, { pathname }: URL): boolean {
  return pathname.startsWith(`${basePath}/`)
}

/** Matches addresses of the host, in any text, that are not below the path. */
function foreignAddress({ origin, basePath }: PrefixProxy): RegExp {
  return new RegExp(`${origin.replaceAll('.', '\\.')}(?!${basePath}\\b)\\S{0,40}`, 'g')
}

/** Replaces ids and values by placeholders. The pages of operations differ only in their texts. */
function shapeOf({ pathname, searchParams }: URL): string {
  const path = pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40}|\b\d+\b|[\w-]{43}|(?<=\/docs\/)\w+/g, '*')
  return `${path}?${[...new Set(searchParams.keys())].sort().join('&')}`
}

function addressesIn({ headers }: Answer, name: 'location' | 'link'): string[] {
  const value = headers[name]
  if (typeof value !== 'string') return []
  return name === 'location' ? [value] : [...value.matchAll(/<([^>]*)>/g)].map(([, address = '']) => address)
}
