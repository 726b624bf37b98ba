import type { ComponentChildren } from 'preact'

/**
 * Replaces a list without rows: explains what it is for, and leads to the first step.
 * @param props.action the first step; without one, for example if the user may not take it, no button
 */
export function EmptyCard(props: {
  title: string
  children: ComponentChildren
  action?: { label: string; href: string } | null | false | undefined
}) {
  const { title, children, action } = props
  return (
    <section class="card empty-card" aria-labelledby="empty-title">
      <h2 id="empty-title">{title}</h2>
      {children}
      {action && (
        <p class="row">
          <a class="button primary" href={action.href}>
            {action.label}
          </a>
        </p>
      )}
    </section>
  )
}
