import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './imports.ts'

/** A fenced block of a documentation page. */
export interface DocBlock {
  /** `docs/webhooks.md:42`, of its opening fence */
  at: string
  page: string
  language: string
  text: string
  /** text of the comment before it if this block is not run, or run elsewhere */
  directive: string | null
}

const DIRECTIVE = /^<!-- ((?:from here on )?not run: .+|run by .+) -->$/

/** The pages with code to copy: README.md and everything under docs. */
export function pages(): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  return ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => join('docs', name))]
}

/** Returns the blocks of a page in order. A directive applies to the next block, or to all blocks after "from here on". */
export function blocksOf(page: string): DocBlock[] {
  const blocks: DocBlock[] = []
  let open: DocBlock | null = null
  let directive: string | null = null
  let lasting: string | null = null
  for (const [index, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    const fence = /^\s*```(\w*)$/.exec(line)
    const found = DIRECTIVE.exec(line)?.[1]
    if (open && fence) {
      blocks.push(open)
      open = null
    } else if (open) open.text += `${line}\n`
    else if (fence) {
      open = { at: `${page}:${index + 1}`, page, language: fence[1] ?? '', text: '', directive: directive ?? lasting }
      directive = null
    } else if (found?.startsWith('from here on')) lasting = found
    else if (found) directive = found
    else if (line.trim() !== '') directive = null
  }
  return blocks
}
