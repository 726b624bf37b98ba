import type { ComponentChildren } from 'preact'
import type { ApiEnv } from '#shared/environment.ts'
import { NotFoundError } from '#shared/errors.ts'
import { listConsoleClients } from '#shared/risk/risk-console/store.ts'
import { may, type Right } from '#shared/tenancy/accounts/roles.ts'
import type { Membership } from '#shared/tenancy/accounts/store.ts'
import { listEndpoints } from '#shared/webhooks/endpoint-store.ts'
import { type List, ListPage } from '../lists/list.tsx'
import type { Context } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import type { RiskArea } from '../shell/navigation.ts'
import { readCookie, setCookie } from '../shell/sessions.ts'
import { requireOrganisation, type Workspace } from '../shell/workspace.ts'
import { MoreActions } from './actions.tsx'
import { riskAssets } from './assets.ts'

/** One organisation and one environment; they scope every query of the console. */
export interface Console extends Workspace {
  organisation: Membership
  organisationId: number
  env: ApiEnv
  /** base path of the console, without a final slash */
  base: string
}

export const CONSOLE = '/organisations/:organisation/risk/:env'

type Environment = 'sandbox' | 'production'

function environmentOf(text: string): Environment | null {
  return text === 'sandbox' || text === 'production' ? text : null
}

/**
 * Returns the console of the path.
 * @throws as `requireOrganisation`; NotFoundError for an unknown environment
 */
export async function loadConsole(context: Context, right: Right): Promise<Console> {
  const opened = await requireOrganisation(context, right)
  const name = environmentOf(context.params.env ?? '')
  if (name === null) throw new NotFoundError('There is no such environment.')
  const { organisation } = opened
  rememberEnvironment(context, name)
  return {
    ...opened,
    organisationId: organisation.organisationId,
    env: name === 'sandbox' ? 'SANDBOX' : 'PRODUCTION',
    base: `/organisations/${organisation.organisationUuid}/risk/${name}`,
  }
}

const REMEMBER_SECONDS = 365 * 24 * 3600

function rememberEnvironment({ request, response, deps }: Context, name: Environment): void {
  if (request.method !== 'GET' || readCookie(request, deps.config, 'risk-env') === name) return
  setCookie(response, deps.config, 'risk-env', name, REMEMBER_SECONDS)
}

/**
 * Returns the environment that this browser used last. By default it is production if the organisation has a client or
 * an endpoint there, otherwise the sandbox.
 */
export async function lastEnvironment({ request, deps }: Context, organisationId: number): Promise<Environment> {
  const last = environmentOf(readCookie(request, deps.config, 'risk-env'))
  if (last) return last
  const production = { organisationId, env: 'PRODUCTION' } as const
  const [clients, endpoints] = await Promise.all([
    listConsoleClients(deps.db, production),
    listEndpoints(deps.db, { ...production, after: null, limit: 1 }),
  ])
  return clients.length + endpoints.length > 0 ? 'production' : 'sandbox'
}

export function mayIn(console: Console, right: Right): boolean {
  return may(console.organisation.role, right)
}

export function sendConsole(
  context: Context,
  console: Console,
  page: { title: string; area: RiskArea; pollSeconds?: number },
  content: ComponentChildren,
  status = 200,
): void {
  const { organisation } = console
  sendPage(
    context,
    {
      title: page.title,
      workspace: console,
      area: page.area,
      riskBase: console.base,
      ...(page.pollSeconds !== undefined && { pollSeconds: page.pollSeconds }),
    },
    <>
      <RiskStyle />
      <nav class="chips console-head" aria-label="Environment">
        <span class="muted">Environment:</span>
        <EnvLinks organisation={organisation} console={console} area={page.area} />
      </nav>
      {console.env === 'SANDBOX' ? (
        <SandboxBand />
      ) : (
        <p class="muted">Production: real registries and real deliveries. Nothing of the sandbox is shown here.</p>
      )}
      {/* Every page has the region, because the page before the result must be able to show the result. */}
      <div data-region="content">{content}</div>
    </>,
    status,
  )
}

interface ConsoleList<Row> extends Omit<List<Row>, 'path' | 'label' | 'title' | 'actions' | 'more'> {
  title: string
  /** default: the title */
  heading?: string
  /** accessible name of the table; default: the title */
  label?: string
  area: RiskArea
  pollSeconds?: number
  /** path of the list, below the console */
  path: string
  /** the actions are below this path; default: the list */
  actionPath?: string
  /** right that the actions require; default `edit` */
  right?: Right
  actions?: readonly (readonly [path: string, label: string])[]
  /** the menu beside the actions */
  more?: readonly (readonly [path: string, label: string])[]
}

export function sendList<Row>(context: Context, console: Console, list: ConsoleList<Row>): void {
  const { heading, area, pollSeconds, path, actionPath = path, right = 'edit', actions = [], more = [], ...rest } = list
  const linksOf = (links: typeof actions) =>
    mayIn(console, right) ? links.map(([below, label]) => ({ href: console.base + actionPath + below, label })) : []
  sendConsole(
    context,
    console,
    { title: list.title, area, ...(pollSeconds !== undefined && { pollSeconds }) },
    <ListPage
      {...rest}
      title={heading ?? list.title}
      label={list.label ?? list.title}
      path={console.base + path}
      actions={linksOf(actions)}
      more={<MoreActions context={context} actions={linksOf(more)} />}
    />,
  )
}

export function RiskStyle() {
  return <link rel="stylesheet" href={riskAssets.style.path} />
}

/** Shown on every sandbox page, because its data describes no real business. */
export function SandboxBand() {
  return (
    <p class="sandbox-band">
      <strong>Sandbox — not evidence.</strong> The values below describe no real business.
    </p>
  )
}

function EnvLinks({ organisation, console, area }: { organisation: Membership; console: Console; area: RiskArea }) {
  return (
    <>
      {(['sandbox', 'production'] as const).map((env) => (
        <a
          key={env}
          href={`/organisations/${organisation.organisationUuid}/risk/${env}/${area}`}
          aria-current={console.base.endsWith(`/${env}`) ? 'true' : undefined}
        >
          {env === 'sandbox' ? 'Sandbox' : 'Production'}
        </a>
      ))}
    </>
  )
}
