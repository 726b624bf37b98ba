import type { ComponentChildren } from 'preact'
import { assets } from '../shell/assets.ts'
import { PageAssets } from '../shell/page-assets.tsx'
import { Brand } from '../shell/sidebar.tsx'
import { anchorOf, type Operation, type Reference } from './reference.ts'

export interface Site {
  siteName: string
  publicUrl: string
}

interface FrameProps {
  title: string
  reference: Reference
  site: Site
  current?: Operation
  children: ComponentChildren
}

/** The shell of the pages without an account, so that all visitors get the same bytes. */
export function Frame({ title, reference, site, current, children }: FrameProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · ${site.siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href={assets.icon.path} />
        <PageAssets />
      </head>
      <body class="framed docs">
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="side">
          <div class="side-top">
            <Brand name={site.siteName} />
            <span />
            <input type="checkbox" class="menu-switch" aria-label="Show the contents" />
          </div>
          <nav aria-label="API reference">
            <Contents reference={reference} current={current} />
          </nav>
        </header>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <div id="toasts" class="toasts" role="status" />
      </body>
    </html>
  )
}

function Contents({ reference, current }: { reference: Reference; current: Operation | undefined }) {
  return (
    <>
      {current && (
        <search>
          <form action="/docs">
            <input
              type="search"
              name="q"
              maxLength={100}
              aria-label="Find an operation"
              placeholder="Find an operation"
            />
          </form>
        </search>
      )}
      {reference.apis.map(({ name: api, tags }) => (
        <div key={api} class="nav-section">
          <p class="nav-title">{api}</p>
          <ul>
            {tags.map(({ name, operations }) => (
              <li key={name}>
                <a href={`/docs#${anchorOf(name)}`}>{name}</a>
                {name === current?.tag && (
                  <ul>
                    {operations.map(({ operationId, summary }) => (
                      <li key={operationId}>
                        <a
                          href={`/docs/${operationId}`}
                          aria-current={operationId === current.operationId ? 'page' : undefined}
                        >
                          {summary.replaceAll('`', '')}
                        </a>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  )
}
