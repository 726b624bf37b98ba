import type { Check } from '#shared/monitoring/checks/check.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import type { PingDetails } from '#shared/monitoring/pages/check-log-store.ts'
import { type Micros, toSeconds } from '#shared/time.ts'
import { CodeBlock, Crumb, Exact, Fact } from '../../shell/basics.tsx'
import { humanDuration } from '../../shell/format.ts'
import { ignoredLabels, pingLabel } from './log.tsx'
import { bodyText, sourceText } from './ping-body.ts'
import type { ShownMail } from './shown-mail.ts'

/** Maximum bytes of a displayed body. */
const SHOWN_BYTES = 100_000

export interface PingRun {
  took: Micros
  /** number of the start ping; null if it was deleted */
  startN: number | null
}

const MAIL_VIEWS = ['text', 'html', 'source'] as const
const mailViewNames = { text: 'Text', html: 'HTML', source: 'Source' } as const

export type MailView = (typeof MAIL_VIEWS)[number]

export function mailViewOf(name: string | null): MailView {
  return MAIL_VIEWS.find((view) => view === name) ?? 'text'
}

/**
 * Shows a ping. Links to another ping or view carry `data-stays`, so that they open inside the drawer over a log.
 * @param props.path the check's page
 * @param props.mail null if it is not a mail, or if its source is shown
 */
export function PingView(props: {
  check: Check
  path: string
  ping: PingDetails
  run: PingRun | null
  view: MailView
  mail: ShownMail | null
}) {
  const { check, ping, path, view, mail } = props
  const isMail = ping.scheme === 'email' && ping.bodyBytes > 0
  const query = isMail && view !== 'text' ? `?view=${view}` : ''
  return (
    <>
      <Crumb href={`${path}#log`} label={nameOf(check)} />
      <div class="page-head">
        <h1>
          Ping #{ping.n} <span class={`pill ping-${ping.type}`}>{pingLabel[ping.type]}</span>
        </h1>
        <nav class="pager" aria-label="Neighbours">
          {ping.n > 1 && (
            <a href={`${path}/pings/${ping.n - 1}${query}`} data-stays="before">
              Ping #{ping.n - 1}
            </a>
          )}
          {ping.n < check.nPings && (
            <a href={`${path}/pings/${ping.n + 1}${query}`} data-stays="after">
              Ping #{ping.n + 1}
            </a>
          )}
        </nav>
      </div>
      {ping.ignored !== null && (
        <p>
          {ping.type === 'ign' || ping.ignored === 'source'
            ? 'This ping was ignored: '
            : 'The URL or the default decided: '}
          {ignoredLabels[ping.ignored]}.
        </p>
      )}
      <div class="ping-grid">
        <section class="card ping-body" aria-labelledby="body">
          <div class="card-head">
            <h2 id="body">{isMail ? 'Mail' : 'Body'}</h2>
            {isMail && <MailTabs path={`${path}/pings/${ping.n}`} view={view} />}
            {ping.bodyBytes > 0 && (
              <a
                class="button"
                href={`${path}/pings/${ping.n}/body`}
                download={isMail ? `ping-${ping.n}.eml` : `ping-${ping.n}.txt`}
              >
                Download
              </a>
            )}
          </div>
          {mail ? (
            <MailBody mail={mail} view={view} path={`${path}/pings/${ping.n}/mail`} isCut={isBeginning(ping)} />
          ) : (
            <Body ping={ping} isMail={isMail} />
          )}
        </section>
        <section class="card" aria-labelledby="ping-facts">
          <h2 id="ping-facts">Details</h2>
          <Facts path={path} ping={ping} run={props.run} mail={mail} />
        </section>
      </div>
    </>
  )
}

function isBeginning({ body, bodyBytes }: PingDetails): boolean {
  return body !== null && body.length < bodyBytes
}

function MailTabs({ path, view }: { path: string; view: MailView }) {
  return (
    <nav aria-label="The mail as">
      <ul class="tabs">
        {MAIL_VIEWS.map((one) => (
          <li key={one}>
            <a
              href={one === 'text' ? path : `${path}?view=${one}`}
              aria-current={one === view ? 'page' : undefined}
              data-stays={one}
            >
              {mailViewNames[one]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function MailBody(props: { mail: ShownMail; view: MailView; path: string; isCut: boolean }) {
  const { mail, view, path } = props
  const note = (
    <p class="muted">Only its beginning is shown. The download has the whole mail, with what is attached to it.</p>
  )
  if (view === 'html') {
    if (mail.htmlHeight === null) return <Without what="HTML" isCut={props.isCut} />
    return (
      <>
        {props.isCut && note}
        <p class="hint">Nothing is loaded from elsewhere: pictures may be missing.</p>
        <iframe class="mail" src={path} height={mail.htmlHeight} title="Rendered mail" sandbox="" />
      </>
    )
  }
  if (mail.text.trim() === '') return <Without what="text" isCut={props.isCut} />
  return (
    <>
      {(props.isCut || mail.isTextCut) && note}
      {mail.isTextOfHtml && <p class="hint">Taken from its HTML: the mail has no plain text.</p>}
      <CodeBlock text={mail.text} label="text of the mail" />
    </>
  )
}

/** A truncated mail may contain the missing headers later. */
function Without({ what, isCut }: { what: string; isCut: boolean }) {
  return (
    <p class="muted">
      {isCut
        ? `The beginning of this mail has no ${what}. The download has the whole mail.`
        : `This mail has no ${what}.`}
    </p>
  )
}

function Body({ ping: { body, bodyBytes }, isMail }: { ping: PingDetails; isMail: boolean }) {
  if (!body || bodyBytes === 0) return <p class="muted">Nothing was sent with it.</p>
  const shown = body.subarray(0, SHOWN_BYTES)
  return (
    <>
      {bodyBytes > SHOWN_BYTES && (
        <p class="muted">
          The first {SHOWN_BYTES.toLocaleString('en')} of {bodyBytes.toLocaleString('en')} bytes. The download has them
          all.
        </p>
      )}
      {isMail ? (
        <CodeBlock text={sourceText(shown)} label="source of the mail" />
      ) : (
        <CodeBlock text={bodyText(shown)} label="body of the ping" />
      )}
    </>
  )
}

/** Omits unknown facts. */
function Facts(props: { path: string; ping: PingDetails; run: PingRun | null; mail: ShownMail | null }) {
  const { ping, run, mail } = props
  return (
    <dl class="facts">
      <Fact title="Time">
        <Exact at={ping.at} isNamed />
      </Fact>
      {run && (
        <Fact title="Run">
          took {humanDuration(toSeconds(run.took))}
          {run.startN !== null && (
            <>
              , started by{' '}
              <a href={`${props.path}/pings/${run.startN}`} data-stays="start">
                #{run.startN}
              </a>
            </>
          )}
        </Fact>
      )}
      {ping.exitStatus !== null && <Fact title="Exit status">{ping.exitStatus}</Fact>}
      {mail && mail.subject !== '' && <Fact title="Subject">{mail.subject}</Fact>}
      {mail && mail.sender !== '' && <Fact title="Sender">{mail.sender}</Fact>}
      {ping.remoteAddr !== null && ping.remoteAddr !== '' && <Fact title="From">{ping.remoteAddr}</Fact>}
      <Fact title="Sent by">{ping.scheme === 'email' ? 'e-mail' : `${ping.scheme} ${ping.method}`.trim()}</Fact>
      {ping.ua !== '' && <Fact title="Agent">{ping.ua}</Fact>}
      {ping.rid !== null && <Fact title="Run id">{ping.rid}</Fact>}
    </dl>
  )
}
