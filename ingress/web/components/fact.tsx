import type { ComponentChildren } from 'preact'

/** One fact of a list of facts (`dl.facts`). */
export function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="breakable">{children}</dd>
    </div>
  )
}
