import type { Request, Response } from 'express'
import { render } from 'preact-render-to-string'
import type { IngressDeps } from '../../deps.ts'
import { type Problem, setRetryHeaders, toProblem } from '../../errors.ts'
import { requestIdOf } from '../../middleware/request-safety.ts'
import { assets } from './assets.ts'
import { Copyable } from './basics.tsx'
import type { Context } from './context.ts'
import { Logo } from './icons.tsx'
import { sendPage } from './layout.tsx'
import { surroundings } from './neighbours.ts'
import { PageAssets } from './page-assets.tsx'
import { asPage, htmlDocument } from './send-html.ts'

/** Describes the problem and offers one next step. The navigation is shown if the user is signed in. */
export async function sendErrorPage(
  thrown: unknown,
  request: Request,
  response: Response,
  deps: IngressDeps,
  context: Context | undefined,
): Promise<void> {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const problem = toProblem(thrown, response, deps)
  setRetryHeaders(problem, response)
  const way = wayOn(request, problem.status, context)
  // Skipped for internal errors, because the failed component may be needed here.
  const around = context && problem.status < 500 ? await surroundings(context) : {}
  if (context && around.workspace) {
    return sendPage(
      context,
      { title: problem.title, ...around },
      <Explanation problem={problem} way={way} requestId={requestIdOf(response)} />,
      problem.status,
    )
  }
  const html = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${problem.title} · ${deps.config.siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href={assets.icon.path} />
        <PageAssets />
      </head>
      <body class="plain">
        <header class="brand-only">
          <a class="brand" href="/">
            <Logo />
            <span>{deps.config.siteName}</span>
          </a>
        </header>
        <main id="main">
          <Explanation problem={problem} way={way} requestId={requestIdOf(response)} />
        </main>
        <div id="toasts" class="toasts" role="status" />
      </body>
    </html>,
  )
  asPage(response.status(problem.status)).end(htmlDocument(html, deps.config))
}

function Explanation({
  problem,
  way,
  requestId,
}: {
  problem: Problem
  way: { href: string; label: string }
  requestId: string
}) {
  return (
    <section class="narrow center">
      <p class="big-number" aria-hidden="true">
        {problem.status}
      </p>
      <h1>{problem.title}</h1>
      <p>{problem.message}</p>
      <p>
        <a class="button primary" href={way.href}>
          {way.label}
        </a>
      </p>
      <p class="request-id">
        <small>Request</small> <Copyable text={requestId} label="request id" />
      </p>
    </section>
  )
}

/** Returns another link, the same page, or the user's start page. */
function wayOn({ method, originalUrl }: Request, status: number, context: Context | undefined) {
  if (originalUrl.startsWith('/reset-password')) return { href: '/reset-password', label: 'Ask for a new link' }
  if (method === 'GET' && (status === 429 || status >= 500)) return { href: originalUrl, label: 'Try again' }
  if (status === 429 && originalUrl.startsWith('/sign-in')) return { href: '/sign-in', label: 'Back to sign in' }
  return context?.session ? { href: '/', label: 'Back to your checks' } : { href: '/', label: 'Home' }
}
