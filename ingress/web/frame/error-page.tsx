import type { Request, Response } from 'express'
import { render } from 'preact-render-to-string'
import type { IngressDeps } from '../../deps.ts'
import { setRetryHeaders, toProblem } from '../../errors.ts'
import { requestIdOf } from '../../middleware/request-id.ts'
import { assets } from './assets.ts'
import type { Context } from './context.ts'

/** Answers anything thrown with a page that says what happened and where to go on. */
export function sendErrorPage(
  thrown: unknown,
  _request: Request,
  response: Response,
  deps: IngressDeps,
  context: Context | undefined,
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const problem = toProblem(thrown, response, deps)
  setRetryHeaders(problem, response)
  const html = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${problem.title} · ${deps.config.siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href={assets.icon.path} />
        <link rel="stylesheet" href={assets.style.path} />
      </head>
      <body class="plain">
        <main id="main" class="narrow center">
          <p class="big-number" aria-hidden="true">
            {problem.status}
          </p>
          <h1>{problem.title}</h1>
          <p>{problem.message}</p>
          <p class="muted">
            Request <code>{requestIdOf(response)}</code>
          </p>
          <p>
            <a class="button" href="/">
              {context?.session ? 'Back to your checks' : 'To the start'}
            </a>
          </p>
        </main>
      </body>
    </html>,
  )
  response.status(problem.status).type('text/html').end(`<!doctype html>${html}`)
}
