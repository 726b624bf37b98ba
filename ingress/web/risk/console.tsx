import type { ComponentChildren } from 'preact'
import type { ApiEnv } from '#shared/environment.ts'
import { NotFoundError } from '#shared/errors.ts'
import { may, type Right } from '#shared/tenancy/accounts/roles.ts'
import type { Membership } from '#shared/tenancy/accounts/store.ts'
import type { Context } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openOrganisation, type Workspace } from '../frame/workspace.ts'
import { riskAssets } from './assets.ts'

/** One organisation's view of one environment; every query of the console is scoped by it. */
export interface Console extends Workspace {
  organisation: Membership
  organisationId: number
  env: ApiEnv
  /** where its pages are, without a slash at the end */
  base: string
}

export type Tab =
  | 'packs'
  | 'identity'
  | 'imports'
  | 'pools'
  | 'businesses'
  | 'financing'
  | 'acceptance'
  | 'trade'
  | 'clients'
  | 'agents'
  | 'webhooks'
  | 'usage'

const TABS: readonly { tab: Tab; label: string }[] = [
  { tab: 'packs', label: 'Packs' },
  { tab: 'identity', label: 'Identity' },
  { tab: 'businesses', label: 'Businesses' },
  { tab: 'financing', label: 'Financing' },
  { tab: 'acceptance', label: 'Acceptance' },
  { tab: 'trade', label: 'Trade' },
  { tab: 'imports', label: 'Imports' },
  { tab: 'pools', label: 'Pools' },
  { tab: 'clients', label: 'Clients' },
  { tab: 'agents', label: 'Agents' },
  { tab: 'webhooks', label: 'Webhooks' },
  { tab: 'usage', label: 'Usage' },
]

/** Path of every page of the console, for registering. */
export const CONSOLE = '/organisations/:organisation/risk/:env'

/**
 * The console that the path names.
 * @throws as openOrganisation does; NotFoundError for an environment there is not
 */
export async function openConsole(context: Context, right: Right): Promise<Console> {
  const opened = await openOrganisation(context, right)
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

/** Answers with a page of the console. */
export function sendConsole(
  context: Context,
  console: Console,
  page: { title: string; tab: Tab; pollSeconds?: number },
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
      area: 'packs',
      ...(page.pollSeconds !== undefined && { pollSeconds: page.pollSeconds }),
    },
    <>
      <RiskStyle />
      <div class="row console-head">
        <nav class="chips" aria-label="Environment">
          <EnvLinks organisation={organisation} console={console} tab={page.tab} />
        </nav>
        <nav class="chips" aria-label="Risk console">
          {TABS.map(({ tab, label }) => (
            <a key={tab} href={`${console.base}/${tab}`} aria-current={tab === page.tab ? 'true' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      </div>
      {console.env === 'SANDBOX' && <SandboxBand />}
      {/* Of every page: the one that ends the waiting has none to poll for, and must be shown by the one before. */}
      <div data-region="content">{content}</div>
    </>,
    status,
  )
}

/** The look of risk pages, on top of the common one. */
export function RiskStyle() {
  return <link rel="stylesheet" href={riskAssets.style.path} />
}

/** Nobody can miss that nothing below is about a real business. */
export function SandboxBand() {
  return (
    <p class="sandbox-band">
      <strong>Sandbox — not evidence.</strong> The values below describe no real business.
    </p>
  )
}

function EnvLinks({ organisation, console, tab }: { organisation: Membership; console: Console; tab: Tab }) {
  return (
    <>
      {(['sandbox', 'production'] as const).map((env) => (
        <a
          key={env}
          href={`/organisations/${organisation.organisationUuid}/risk/${env}/${tab}`}
          aria-current={console.base.endsWith(`/${env}`) ? 'true' : undefined}
        >
          {env === 'sandbox' ? 'Sandbox' : 'Live'}
        </a>
      ))}
    </>
  )
}
