import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Workspace } from './workspace.ts'

const RISK = [
  { area: 'packs', label: 'Evidence packs' },
  { area: 'identity', label: 'Identity' },
  { area: 'businesses', label: 'Businesses' },
  { area: 'financing', label: 'Financing' },
  { area: 'acceptance', label: 'Acceptance' },
  { area: 'trade', label: 'Trade' },
  { area: 'imports', label: 'Imports' },
  { area: 'pools', label: 'Pools' },
  { area: 'clients', label: 'Clients' },
  { area: 'agents', label: 'Agents' },
  { area: 'webhooks', label: 'Webhooks' },
  { area: 'usage', label: 'Usage' },
] as const

export type RiskArea = (typeof RISK)[number]['area']

export function isRiskArea(text: string): text is RiskArea {
  return RISK.some(({ area }) => area === text)
}

export type Area =
  | RiskArea
  | 'checks'
  | 'incidents'
  | 'on-call'
  | 'policies'
  | 'windows'
  | 'integrations'
  | 'badges'
  | 'status-page'
  | 'keys'
  | 'settings'
  | 'projects'
  | 'members'
  | 'audit'
  | 'account'

export interface NavigationSection {
  title: string
  links: NavigationLink[]
  /** true: shown as a part that the user opens */
  isFolded?: boolean
}

interface NavigationLink {
  area: Area
  href: string
  label: string
  count?: number
  counted?: string
}

/**
 * Returns the sections of the sidebar, which are the same on all pages of a project.
 * @param riskBase base path of the risk console, whose section is then open; absent on other pages
 */
export function navigation(
  workspace: Workspace,
  project: MemberProject | undefined,
  riskBase?: string,
): NavigationSection[] {
  const sections: NavigationSection[] = []
  const { attention } = workspace
  if (project) {
    const base = `/projects/${project.uuid}`
    sections.push({
      title: 'Monitoring',
      links: [
        { area: 'checks', href: `${base}/checks`, label: 'Checks', count: attention?.down ?? 0, counted: 'down' },
        { area: 'incidents', href: `${base}/incidents`, label: 'Incidents' },
        {
          area: 'integrations',
          href: `${base}/integrations`,
          label: 'Integrations',
          count: attention?.failing ?? 0,
          counted: 'failing',
        },
        { area: 'on-call', href: `${base}/on-call`, label: 'On call' },
        { area: 'policies', href: `${base}/policies`, label: 'Policies' },
        { area: 'windows', href: `${base}/windows`, label: 'Maintenance' },
        { area: 'badges', href: `${base}/badges`, label: 'Badges' },
        ...(may(project.role, 'manage')
          ? [
              { area: 'status-page' as const, href: `${base}/status-page`, label: 'Status page' },
              { area: 'keys' as const, href: `${base}/keys`, label: 'Keys' },
              { area: 'settings' as const, href: `${base}/settings`, label: 'Settings' },
            ]
          : []),
      ],
    })
  }
  const organisation = project
    ? { uuid: project.organisationUuid, role: project.role }
    : workspace.memberships.map(({ organisationUuid, role }) => ({ uuid: organisationUuid, role })).at(0)
  sections.push({
    title: 'Organisation',
    links: [
      { area: 'projects', href: '/projects', label: 'Projects' },
      ...(organisation
        ? [{ area: 'members' as const, href: `/organisations/${organisation.uuid}/members`, label: 'People' }]
        : []),
      ...(organisation && may(organisation.role, 'manage')
        ? [{ area: 'audit' as const, href: `/organisations/${organisation.uuid}/audit`, label: 'Audit log' }]
        : []),
    ],
  })
  if (organisation) {
    // Outside the console the links redirect to the environment used last.
    const base = riskBase ?? `/organisations/${organisation.uuid}/risk`
    sections.push({
      title: 'Risk signals',
      isFolded: riskBase === undefined,
      links: RISK.map(({ area, label }) => ({ area, href: `${base}/${area}`, label })),
    })
  }
  return sections
}
