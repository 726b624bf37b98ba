import type { ComponentChildren } from 'preact'
import { render } from 'preact-render-to-string'
import { bannerText } from '#shared/monitoring/availability/notice.ts'
import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { Form } from '../forms/form.tsx'
import { assets, type CompressedText, endCompressed, sendCompressed } from './assets.ts'
import { Exact } from './basics.tsx'
import type { Context, Flash } from './context.ts'
import type { Area } from './navigation.ts'
import { Notice } from './notice.tsx'
import { PageAssets } from './page-assets.tsx'
import type { PingRefusal } from './refusal.ts'
import { asPage, htmlDocument, wantsPage } from './send-html.ts'
import { readCookie, setCookie } from './sessions.ts'
import { Brand, Sidebar } from './sidebar.tsx'
import type { Workspace } from './workspace.ts'

export interface Frame {
  title: string
  /** absent for visitors who are not signed in */
  workspace?: Workspace
  project?: MemberProject
  area?: Area
  riskBase?: string
  isDown?: boolean
  /** address of the events after which the page reloads */
  live?: string
  /** removes the frame, for a wall display */
  isWall?: boolean
  /** polling interval in seconds, for a page without events */
  pollSeconds?: number
  feed?: string
  /** time zone of exact times for accounts without a chosen one; default UTC */
  zone?: string
  /** hides the page from crawlers */
  isPublic?: boolean
}

export function sendPage(context: Context, frame: Frame, content: ComponentChildren, status = 200): void {
  rememberProject(context, frame)
  const response = asPage(context.response.status(status))
  endCompressed(context.request, response, renderPage(context, frame, content))
}

/** Pages without a project then show this one in the menu. Scripts that read a page in another tab change nothing. */
function rememberProject({ request, response, deps }: Context, { workspace, project }: Frame): void {
  if (!project || !workspace || workspace.projects.length < 2 || !wantsPage(request)) return
  if (readCookie(request, deps.config, 'project') !== project.uuid) {
    setCookie(response, deps.config, 'project', project.uuid)
  }
}

/** Sends a page that was rendered before, the same for all visitors. */
export function sendRendered({ request, response }: Context, page: CompressedText): void {
  sendCompressed(request, asPage(response), page)
}

export function renderPage(context: Context, frame: Frame, content: ComponentChildren): string {
  const html = render(<Page {...{ context, frame }}>{content}</Page>)
  return htmlDocument(html, context.deps.config)
}

function Page({ context, frame, children }: { context: Context; frame: Frame; children: ComponentChildren }) {
  const { siteName } = context.deps.config
  const done = context.query.get('done')
  return (
    <html
      lang="en"
      data-live={frame.live}
      data-poll={frame.pollSeconds && frame.pollSeconds * 1000}
      data-theme={context.session?.theme || undefined}
      data-zone={context.session?.tz || frame.zone}
    >
      <head>
        <meta charset="utf-8" />
        <title>{`${frame.title} · ${siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link
          rel="icon"
          href={frame.isDown ? assets.iconDown.path : assets.icon.path}
          data-up={assets.icon.path}
          data-down={assets.iconDown.path}
        />
        {frame.feed && <link rel="alternate" type="application/atom+xml" title={frame.title} href={frame.feed} />}
        <PageAssets
          scripts={[assets.script, assets.live, ...(frame.area === 'checks' ? [assets.list, assets.check] : [])]}
        />
      </head>
      <body class={frame.isWall ? 'on-wall' : frame.workspace ? 'framed' : 'plain'}>
        {!frame.isWall && (
          <a class="skip" href="#main">
            Skip to the content
          </a>
        )}
        {frame.workspace ? (
          <Sidebar
            context={context}
            workspace={frame.workspace}
            project={frame.project ?? frame.workspace.current}
            area={frame.area}
            riskBase={frame.riskBase}
          />
        ) : (
          !frame.isWall && (
            <header class="brand-only">
              <Brand name={siteName} />
            </header>
          )
        )}
        <main id="main" tabIndex={-1}>
          <p id="connection" class="connection" role="alert" hidden />
          {(frame.workspace || frame.isWall) && <Refusal refusal={context.pingRefusal} />}
          {frame.workspace && <Blindness workspace={frame.workspace} project={frame.project} />}
          {context.flash.notice !== undefined ? (
            <div class="notice" role="status">
              {context.flash.notice}
              {context.flash.undo && <Undo context={context} undo={context.flash.undo} />}
            </div>
          ) : (
            done && <Notice done={done} />
          )}
          {children}
        </main>
        <div id="toasts" class="toasts" role="status" />
        <Question />
      </body>
    </html>
  )
}

function Undo({ context, undo }: { context: Context; undo: NonNullable<Flash['undo']> }) {
  return (
    <Form context={context} action={undo.action} class="undo">
      {Object.entries(undo.fields).flatMap(([name, values]) =>
        values.map((value) => <input key={value} type="hidden" name={name} value={value} />),
      )}
      <button type="submit" class="link">
        Undo
      </button>
    </Form>
  )
}

/** Shown on every page, because nothing else on it changes while pings are refused. */
function Refusal({ refusal }: { refusal: PingRefusal | null }) {
  return (
    <div data-region="refusal">
      {refusal !== null && (
        <p class="problem" role="alert">
          <b>Pings are being refused</b> since <Exact at={refusal.since} /> UTC:{' '}
          {refusal.isBroker
            ? 'the message broker cannot be reached'
            : 'this process does not fit its database, and its operator can read why'}
          . No check goes down because of it. Senders receive an error and should retry.
        </p>
      )}
    </div>
  )
}

/** Shows a gap in our coverage for a day. No check goes down because of it. */
function Blindness({ workspace, project }: { workspace: Workspace; project: MemberProject | undefined }) {
  const shown = project ?? workspace.current
  const gap = workspace.attention?.gap
  return (
    <div data-region="blindness">
      {gap && shown && (
        <p class={gap.until === null ? 'problem' : 'notice'} role={gap.until === null ? 'alert' : undefined}>
          {bannerText(gap)} <a href={`/projects/${shown.uuid}/gaps`}>Gaps</a>
        </p>
      )}
    </div>
  )
}

function Question() {
  return (
    <dialog id="question" aria-labelledby="question-title">
      <form method="dialog">
        <h2 id="question-title">Are you sure?</h2>
        <p class="breakable" />
        <div class="row">
          <button type="submit" value="yes" class="danger solid">
            Yes
          </button>
          <button type="submit" value="">
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  )
}
