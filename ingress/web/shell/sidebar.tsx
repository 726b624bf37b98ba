import type { MemberProject } from '#shared/monitoring/projects/member-store.ts'
import { productVersion } from '#shared/platform/process/version.ts'
import type { Context } from './context.ts'
import { Logo } from './icons.tsx'
import { type Area, type NavigationSection, navigation } from './navigation.ts'
import type { Workspace } from './workspace.ts'

export function Brand({ name }: { name: string }) {
  return (
    <a class="brand" href="/">
      <Logo />
      <span>{name}</span>
    </a>
  )
}

export function Sidebar(props: {
  context: Context
  workspace: Workspace
  project: MemberProject | undefined
  area: Area | undefined
  riskBase: string | undefined
}) {
  const { context, workspace, project, area, riskBase } = props
  const { session } = workspace
  return (
    <header class="side">
      <div class="side-top">
        <Brand name={context.deps.config.siteName} />
        {workspace.projects.length > 0 ? <ProjectMenu workspace={workspace} project={project} /> : <span />}
        <input type="checkbox" class="menu-switch" aria-label="Show the navigation" />
      </div>
      <nav aria-label="Main" data-region="navigation">
        {navigation(workspace, project, riskBase).map((section) =>
          section.isFolded === undefined ? (
            <div class="nav-section" key={section.title}>
              <p class="nav-title">{section.title}</p>
              <SectionLinks section={section} area={area} />
            </div>
          ) : (
            <details class="nav-section" key={section.title} open={!section.isFolded}>
              <summary class="nav-title">{section.title}</summary>
              <SectionLinks section={section} area={area} />
            </details>
          ),
        )}
      </nav>
      <p class="side-foot">
        <a href="/docs">API reference</a> <small title="Version of this installation">{productVersion()}</small>
      </p>
      <div class="who">
        <a href="/account" aria-current={area === 'account' ? 'page' : undefined} title={session.email}>
          {session.name || session.email}
        </a>
        <form method="post" action="/sign-out">
          <input type="hidden" name="_csrf" value={context.csrf} />
          <button class="link" type="submit">
            Sign out
          </button>
        </form>
      </div>
    </header>
  )
}

function SectionLinks({ section, area }: { section: NavigationSection; area: Area | undefined }) {
  return (
    <ul>
      {section.links.map((link) => (
        <li key={link.href}>
          <a class={`i-${link.area}`} href={link.href} aria-current={link.area === area ? 'page' : undefined}>
            {link.label}
            {(link.count ?? 0) > 0 && (
              <span class="count" title={link.counted}>
                {link.count}
                <span class="hidden"> {link.counted}</span>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  )
}

function ProjectMenu({ workspace, project }: { workspace: Workspace; project: MemberProject | undefined }) {
  const several = workspace.memberships.length > 1
  return (
    <details class="menu">
      <summary>
        <span class="menu-label">{project?.name ?? 'Choose a project'}</span>
      </summary>
      <ul>
        {workspace.projects.map((one) => (
          <li key={one.uuid}>
            <a href={`/projects/${one.uuid}/checks`} aria-current={one.id === project?.id ? 'true' : undefined}>
              {one.name}
              {several && <small>{one.organisationName}</small>}
            </a>
          </li>
        ))}
        <li class="menu-foot">
          <a href="/projects">All projects</a>
        </li>
      </ul>
    </details>
  )
}
