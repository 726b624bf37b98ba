import { createHash } from 'node:crypto'
import { type ComponentChild, h } from 'preact'
import { renderToStaticMarkup } from 'preact-render-to-string'
import type { Route } from './route.ts'

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; color: #1b1f24; background: #fff }
h1, h2 { line-height: 1.2 }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
article { border-top: 1px solid #d0d7de; padding: .5rem 0 }
article h3 { margin: .5rem 0; font-size: 1rem }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700 }
table { border-collapse: collapse }
th, td { text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0; font-weight: 400 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } a { color: #79b8ff } article { border-color: #30363d } }
`

/** The only thing the page may load is its own style. */
export const DOCS_CSP =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A page that lists every operation; made from the same routes as `/openapi.json`, without any script. */
export function docsPage(routes: readonly Route[]): string {
  const current = routes.filter((route) => !route.deprecated)
  const sections = [...Map.groupBy(current, (route) => route.tags[0] ?? 'Other')]
  const page = h(
    'html',
    { lang: 'en' },
    h(
      'head',
      null,
      h('meta', { charSet: 'utf-8' }),
      h('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      h('title', null, 'Signalbox API'),
      h('style', { dangerouslySetInnerHTML: { __html: STYLE } }),
    ),
    h(
      'body',
      null,
      h('h1', null, 'Signalbox API'),
      h('p', null, 'The same as a document for tools: ', h('a', { href: '/openapi.json' }, '/openapi.json')),
      h(
        'nav',
        null,
        h('ul', null, ...sections.map(([tag]) => h('li', null, h('a', { href: `#${anchor(tag)}` }, tag)))),
      ),
      h('main', null, ...sections.map(([tag, list]) => section(tag, list))),
    ),
  )
  return `<!doctype html>${renderToStaticMarkup(page)}`
}

function section(tag: string, routes: readonly Route[]): ComponentChild {
  return h('section', { id: anchor(tag) }, h('h2', null, tag), ...routes.map(operation))
}

function operation(route: Route): ComponentChild {
  return h(
    'article',
    { id: route.operationId },
    h('h3', null, h('span', { class: 'method' }, route.method.toUpperCase()), ' ', h('code', null, route.path)),
    h('p', null, `${route.summary}. ${route.description ?? ''}`),
    h('p', null, 'Credentials: ', route.security.length === 0 ? 'none' : route.security.join(' or ')),
    h('table', null, h('tbody', null, ...parameterRows(route), ...responseRows(route))),
  )
}

function parameterRows(route: Route): ComponentChild[] {
  const path = Object.entries(route.params).map(([name, param]) => row(`{${name}}`, param.description))
  const query = Object.entries(route.query?.shape ?? {}).map(([name, field]) =>
    row(`?${name}`, field.description ?? ''),
  )
  return [...path, ...query]
}

function responseRows(route: Route): ComponentChild[] {
  return Object.entries(route.responses).map(([status, response]) => row(status, response.description))
}

function row(name: string, text: string): ComponentChild {
  return h('tr', null, h('th', { scope: 'row' }, h('code', null, name)), h('td', null, text))
}

function anchor(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}
