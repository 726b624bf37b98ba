import type { ComponentChildren } from 'preact'
import type { ApiEnv } from '#shared/environment.ts'
import { NotFoundError } from '#shared/errors.ts'
import { may, type Right } from '#shared/tenancy/accounts/roles.ts'
import type { Membership } from '#shared/tenancy/accounts/store.ts'
import { type List, ListPage } from '../lists/list.tsx'
import type { Context } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import type { RiskArea } from '../shell/navigation.ts'
import { requireOrganisation, type Workspace } from '../shell/workspace.ts'
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

/**
 * Returns the console of the path.
 * @throws as `requireOrganisation`; NotFoundError for an unknown environment
 */
export async function loadConsole(context: Context, right: Right): Promise<Console> {
  const opened = await requireOrganisation(context, right)
  const name = context.params.env
  if (name !== 'sandbox' && name !== 'production') throw new NotFoundError('There is no such environment.')
  const { organisation } = opened
  return {
    ...opened,
    organisationId: organisation.organisationId,
    env: name === 'sandbox' ? 'SANDBOX' : 'PRODUCTION',
    base: `/organisations/${organisation.organisationUuid}/risk/${name}`,
  }
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
  const { organisation, organisationId } = console
  const project = console.projects.find((one) => one.organisationId === organisationId)
  sendPage(
    context,
    {
      title: page.title,
      workspace: console,
      ...(project && { project }),
      area: page.area,
      riskBase: console.base,
      ...(page.pollSeconds !== undefined && { pollSeconds: page.pollSeconds }),
    },
    <>
      <RiskStyle />
      <nav class="chips console-head" aria-label="Environment">
        <EnvLinks organisation={organisation} console={console} area={page.area} />
      </nav>
      {console.env === 'SANDBOX' && <SandboxBand />}
      {/* Every page has the region, because the page before the result must be able to show the result. */}
      <div data-region="content">{content}</div>
    </>,
    status,
  )
}

interface ConsoleList<Row> extends Omit<List<Row>, 'path' | 'label' | 'title' | 'actions'> {
  title: string
  /** default: the title */
  heading?: string
  /** accessible name of the table; default: the title */
  label?: string
  area: RiskArea
  pollSeconds?: number
  /** path of the list and its actions, below the console */
  path: string
  /** right that the actions require; default `edit` */
  right?: Right
  actions?: readonly (readonly [path: string, label: string])[]
}

export function sendList<Row>(context: Context, console: Console, list: ConsoleList<Row>): void {
  const { heading, area, pollSeconds, path, right = 'edit', actions = [], ...rest } = list
  const offered = actions.map(([below, label]) => ({ href: console.base + path + below, label }))
  sendConsole(
    context,
    console,
    { title: list.title, area, ...(pollSeconds !== undefined && { pollSeconds }) },
    <ListPage
      {...rest}
      title={heading ?? list.title}
      label={list.label ?? list.title}
      path={console.base + path}
      actions={mayIn(console, right) ? offered : []}
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
          {env === 'sandbox' ? 'Sandbox' : 'Live'}
        </a>
      ))}
    </>
  )
}
