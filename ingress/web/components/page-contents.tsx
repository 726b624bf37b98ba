/** A part of a page, by the id of its heading. */
export interface PagePart {
  id: string
  label: string
}

/** What is on a long page, in its order, to go to. */
export function PageContents({ parts }: { parts: readonly PagePart[] }) {
  return (
    <nav class="page-contents" aria-labelledby="contents-title">
      <p class="nav-title" id="contents-title">
        On this page
      </p>
      <ul>
        {parts.map(({ id, label }) => (
          <li key={id}>
            <a href={`#${id}`}>{label}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
