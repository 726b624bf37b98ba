import type { ComponentChildren } from 'preact'
import { renderToStaticMarkup } from 'preact-render-to-string'
import { mapYielding } from '#shared/platform/process/time-slices.ts'
import type { Route } from './route.ts'
import { assets } from './web/shell/assets.ts'
import { Logo } from './web/shell/icons.tsx'

/** Allows only the pages' own styles and fonts. */
export const DOCS_CSP =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Renders all operations from the routes of `/openapi.json`, without scripts. It yields between sections, because all
 * of it takes about 40 ms.
 */
export async function docsPage(routes: readonly Route[], publicUrl: string): Promise<string> {
  const current = routes.filter((route) => !route.deprecated)
  const sections = [...Map.groupBy(current, (route) => route.tags[0] ?? 'Other')]
  const parts = await mapYielding(sections, ([tag, list]) => renderToStaticMarkup(<Section tag={tag} routes={list} />))
  return renderToStaticMarkup(
    <Frame tags={sections.map(([tag]) => tag)} sections={parts.join('')} publicUrl={publicUrl} />,
  )
}

/** @param sections rendered HTML */
function Frame({ tags, sections, publicUrl }: { tags: readonly string[]; sections: string; publicUrl: string }) {
  const main = `${renderToStaticMarkup(<Beginning publicUrl={publicUrl} />)}${sections}`
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Signalbox API</title>
        <link rel="icon" href={assets.icon.path} />
        <link rel="stylesheet" href={assets.style.path} />
      </head>
      <body class="framed docs">
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="side">
          <div class="side-top">
            <a class="brand" href="/">
              <Logo />
              <span>Signalbox API</span>
            </a>
            <span />
            <input type="checkbox" class="menu-switch" aria-label="Show the contents" />
          </div>
          <nav aria-label="Contents">
            <div class="nav-section">
              <ul>
                {tags.map((tag) => (
                  <li key={tag}>
                    <a href={`#${anchor(tag)}`}>{tag}</a>
                  </li>
                ))}
              </ul>
            </div>
          </nav>
        </header>
        <main id="main" dangerouslySetInnerHTML={{ __html: main }} />
      </body>
    </html>
  )
}

function Beginning({ publicUrl }: { publicUrl: string }) {
  return (
    <>
      <h1>Signalbox API</h1>
      <p>
        The same as a document for tools: <a href="/openapi.json">{publicUrl}/openapi.json</a>
      </p>
    </>
  )
}

function Section({ tag, routes }: { tag: string; routes: readonly Route[] }) {
  return (
    <section id={anchor(tag)} aria-labelledby={`${anchor(tag)}-title`}>
      <h2 id={`${anchor(tag)}-title`}>{tag}</h2>
      {routes.map((route) => (
        <Operation key={route.operationId} route={route} />
      ))}
    </section>
  )
}

function Operation({ route }: { route: Route }) {
  const rows = [...parameterRows(route), ...responseRows(route)]
  return (
    <article id={route.operationId} class="card">
      <h3>
        <span class={`method is-${route.method}`}>{route.method.toUpperCase()}</span> <code>{route.path}</code>
      </h3>
      <p>{withCode(`${route.summary}. ${route.description ?? ''}`)}</p>
      <p class="muted">
        Credentials:{' '}
        {route.security.length === 0 ? 'none' : withCode(route.security.map((one) => `\`${one}\``).join(' or '))}
      </p>
      <table class="docs-table">
        <tbody>
          {rows.map(([name, text]) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{withCode(text)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </article>
  )
}

type Row = readonly [name: string, text: string]

function parameterRows(route: Route): Row[] {
  const path = Object.entries(route.params).map(([name, param]): Row => [`{${name}}`, param.description])
  const query = Object.entries(route.query?.shape ?? {}).map(
    ([name, field]): Row => [`?${name}`, field.description ?? ''],
  )
  return [...path, ...query]
}

function responseRows(route: Route): Row[] {
  return Object.entries(route.responses).map(([status, response]): Row => [status, response.description])
}

/** Renders text between backticks as code. */
function withCode(text: string): ComponentChildren {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={`${index} ${part}`}>{part}</code> : part))
}

function anchor(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}
